// The host side that every exported CUDA program shares: text, compiled by nvcc alone.
#pragma once

namespace assay {

inline constexpr const char* cuda_support_text = R"cuda(
// ---- host side ----
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace reproducer {

typedef long long Int;

struct Run { // count neighbours with the same bits
  Int count;
  unsigned long long bits;
};

enum Type { f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i8, u8 };

inline int size_of(Type t) {
  switch (t) {
    case f64: case i64: return 8;
    case f32: case i32: return 4;
    case f16: case bf16: return 2;
    default: return 1;
  }
}

inline double value_of(Type t, unsigned long long bits) {
  if (t == f64) { double v; memcpy(&v, &bits, 8); return v; }
  if (t == i64) return (double)(long long)bits;
  if (t == i32) return (double)(int)bits;
  if (t == i8) return (double)(signed char)bits;
  if (t == u8) return (double)(unsigned char)bits;
  int exponent_bits = t == f32 || t == bf16 ? 8 : t == f16 || t == f8e5m2 ? 5 : 4;
  int fraction_bits = t == f32 ? 23 : t == f16 ? 10 : t == bf16 ? 7 : t == f8e5m2 ? 2 : 3;
  unsigned long long fraction = bits & ((1ull << fraction_bits) - 1);
  int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  double sign = bits >> (fraction_bits + exponent_bits) & 1 ? -1 : 1;
  int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
  if (t == f8e4m3 ? exponent == top && fraction == 7 : exponent == top && fraction != 0) return NAN;
  if (t != f8e4m3 && exponent == top) return sign * INFINITY;
  if (exponent == 0) return sign * ldexp((double)fraction, 1 - bias - fraction_bits);
  return sign * ldexp((double)(fraction + (1ull << fraction_bits)), exponent - bias - fraction_bits);
}

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  printf("%s: %s\n", what, cudaGetErrorString(status));
  exit(2);
}

// Device memory of one tensor or scratch buffer; strides in elements, the pointer `offset` elements past its alignment.
struct Buffer {
  std::string name;
  Type type;
  std::vector<Int> shape, strides;
  Int offset;
  unsigned char* memory;
  void* pointer;

  Int count() const { Int n = 1; for (Int size : shape) n *= size; return n; }
  Int place(Int dense) const {
    Int at = 0;
    for (size_t d = shape.size(); d-- > 0;) { at += dense % shape[d] * strides[d]; dense /= shape[d]; }
    return at;
  }
  size_t bytes() const {
    Int last = 0;
    for (size_t d = 0; d < shape.size(); ++d) last += (shape[d] > 0 ? shape[d] - 1 : 0) * strides[d];
    return (size_t)(last + 1 + offset) * size_of(type);
  }
  Buffer(const char* n, Type t, std::vector<Int> sizes, std::vector<Int> steps, Int off, int fill)
      : name(n), type(t), shape(sizes), strides(steps), offset(off) {
    if (strides.empty()) {
      strides.assign(shape.size(), 1);
      for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    }
    check(cudaMalloc(&memory, bytes() + 256), "cudaMalloc");
    check(cudaMemset(memory, fill, bytes() + 256), "cudaMemset");
    pointer = memory + offset * size_of(type);
  }
  void set(const std::vector<Run>& runs) {
    std::vector<unsigned char> host(bytes());
    Int dense = 0;
    for (const Run& run : runs)
      for (Int k = 0; k < run.count; ++k, ++dense)
        memcpy(&host[(size_t)(offset + place(dense)) * size_of(type)], &run.bits, size_of(type));
    check(cudaMemcpy(memory, host.data(), host.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  std::vector<double> values() const {
    std::vector<unsigned char> host(bytes());
    check(cudaMemcpy(host.data(), memory, host.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::vector<double> result((size_t)count());
    for (Int dense = 0; dense < count(); ++dense) {
      unsigned long long bits = 0;
      memcpy(&bits, &host[(size_t)(offset + place(dense)) * size_of(type)], size_of(type));
      result[(size_t)dense] = value_of(type, bits);
    }
    return result;
  }
  std::string element(Int dense) const {
    std::string text;
    for (size_t d = shape.size(); d-- > 0;) {
      text = std::to_string(dense % shape[d]) + (text.empty() ? "" : ",") + text;
      dense /= shape[d];
    }
    return name + "[" + text + "]";
  }
};

inline Buffer& uploaded(Buffer& buffer, const std::vector<Run>& runs) { buffer.set(runs); return buffer; }

struct Expected { // of one element
  Int element;
  double golden, reference, target; // target: what Assay's device computed
};

// Prints the element that is furthest off; the number of those that are off by more than the threshold.
inline int compare(const Buffer& output, const std::vector<Expected>& expected, double threshold) {
  if (expected.empty()) return 0;
  std::vector<double> values = output.values();
  const Expected* worst = &expected[0];
  double most = -1;
  int wrong = 0;
  for (const Expected& e : expected) {
    double t = values[(size_t)e.element];
    bool same = t == e.golden || (std::isnan(t) && std::isnan(e.golden));
    double error = same ? 0 : std::isfinite(t) && std::isfinite(e.golden) ? fabs(t - e.golden) : INFINITY;
    if (error > threshold) ++wrong;
    if (error > most) { most = error; worst = &e; }
  }
  printf("%s = %.9g, golden %.17g, reference %.9g, Assay's target %.9g; error %.6g, threshold %.6g\n",
         output.element(worst->element).c_str(), values[(size_t)worst->element], worst->golden, worst->reference,
         worst->target, most, threshold);
  return wrong;
}

}  // namespace reproducer
)cuda";

} // namespace assay
