// Whole arrays between bits and doubles, in loops that the compiler vectorises for f64, f32, f16 and bf16.
#pragma once

#include "harness/numerics/dtype.h"
#include "harness/numerics/tensor.h"

#include <cstddef>
#include <span>
#include <vector>

namespace assay {

// out[i] = the value of element i; in.size() == out.size() * size_of(type). Exact but for i64 beyond 2^53.
void widen(DType type, std::span<const std::byte> in, std::span<double> out);
std::vector<double> widen(const Tensor& tensor);

// out = the bits of in[i] rounded once to the type (formats.h: to_bits).
void narrow(DType type, std::span<const double> in, std::span<std::byte> out);

// out[i] = in[i] rounded to the type (formats.h: round_value); with low words: of in[i] + low[i], rounded
// once. low may be empty.
void round_values(DType type, std::span<const double> in, std::span<const double> low, std::span<double> out);

} // namespace assay
