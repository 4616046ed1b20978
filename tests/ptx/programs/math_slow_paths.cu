//! launch grid=1 block=32 words=32
//! expect 1023
// Huge operands take the reduction of trigonometric functions through a table and local memory.
extern "C" __global__ void test(unsigned* out) {
  const float huge = 1e10f * (threadIdx.x + 1), x = (float)threadIdx.x;
  const float s = sinf(huge), c = cosf(huge);
  const double d = sin(1e15 * (threadIdx.x + 1)), e = cos(1e15 * (threadIdx.x + 1));
  unsigned right = fabsf(s * s + c * c - 1) < 1e-6f;
  right |= (fabs(d * d + e * e - 1) < 1e-14) << 1;
  right |= (fabsf(powf(1.5f, x) - expf(x * logf(1.5f))) <= 1e-4f * powf(1.5f, x)) << 2;
  right |= (fmodf(7.5f + x, 2.0f) == 1.5f - (threadIdx.x % 2 == 1 ? 1.0f : 0.0f)) << 3;
  right |= (fabsf(lgammaf(3.0f) - 0.6931472f) < 1e-6f) << 4;
  right |= (fabs(erf(0.5 + 0 * d) - 0.5204998778130465) < 1e-15) << 5;
  right |= (fabs(tgamma(5.0 + 0 * d) - 24.0) < 1e-13) << 6;
  right |= (fabsf(j0f(0 * x) - 1) < 1e-6f) << 7;
  right |= (fabs(cbrt(27.0 + 0 * d) - 3.0) < 1e-15) << 8;
  right |= (fabsf(tanf(huge) * c - s) < 1e-5f) << 9;
  out[threadIdx.x] = right;
}
