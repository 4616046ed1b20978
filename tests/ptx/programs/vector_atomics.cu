//! launch grid=1 block=64 words=6
//! arch compute_90
//! expect i == 0 ? 64 : i == 1 ? 128 : i == 2 ? 64 : i == 3 ? 128 : i == 4 ? 192 : 256
__device__ float2 two;
__device__ float4 four;
extern "C" __global__ void test(unsigned* out) {
  atomicAdd(&two, make_float2(1, 2));
  atomicAdd(&four, make_float4(1, 2, 3, 4));
  __syncthreads();
  if (threadIdx.x != 0) return;
  const float2 t = atomicAdd(&two, make_float2(0, 0));
  const float4 f = atomicAdd(&four, make_float4(0, 0, 0, 0));
  out[0] = (unsigned)t.x;
  out[1] = (unsigned)t.y;
  out[2] = (unsigned)f.x;
  out[3] = (unsigned)f.y;
  out[4] = (unsigned)f.z;
  out[5] = (unsigned)f.w;
}
