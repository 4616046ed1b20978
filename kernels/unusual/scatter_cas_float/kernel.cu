// Adds by a loop of compare-and-swap that begins with a plain read, as in CUDA's guide.

__device__ float cas_add(float* p, float v) {
  int* a = (int*)p;
  int old = *a, assumed;
  do {
    assumed = old;
    old = atomicCAS(a, assumed, __float_as_int(v + __int_as_float(assumed)));
  } while (assumed != old);
  return __int_as_float(old);
}
__global__ void sc(const float* x, const int* index, float* y, int rows, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) cas_add(y + (long long)index[i / cols] * cols + i % cols, x[i]);
}
