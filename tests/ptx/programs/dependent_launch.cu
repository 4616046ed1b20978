//! launch grid=1 block=32 words=32
//! arch compute_90
//! expect i
extern "C" __global__ void test(unsigned* out) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[threadIdx.x] = threadIdx.x;
  asm volatile("griddepcontrol.launch_dependents;");
}
