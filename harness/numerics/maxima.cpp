#include "harness/numerics/maxima.h"

namespace assay {

namespace {

template <bool has_low, bool has_envelope, bool has_mask>
void join_errors(const ComparandArrays& a, std::size_t begin, std::size_t end, Maxima& maxima) {
  std::uint64_t reference = 0, rounding = 0, target = 0, golden = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const double g = a.golden[i];
    const double low = has_low ? a.low[i] : 0;
    const std::uint64_t mask = has_mask ? a.judged[i] : ~std::uint64_t{0};
    const double legal_error = has_envelope ? a.envelope[i] : a.reference[i] - g - low;
    reference = std::max(reference, magnitude_bits(legal_error) & mask);
    rounding = std::max(rounding, magnitude_bits(a.rounded[i] - g - low) & mask);
    target = std::max(target, magnitude_bits(a.target[i] - g - low) & mask);
    golden = std::max(golden, magnitude_bits(g) & mask);
  }
  maxima.reference = std::max(maxima.reference, reference);
  maxima.rounding = std::max(maxima.rounding, rounding);
  maxima.target = std::max(maxima.target, target);
  maxima.golden = std::max(maxima.golden, golden);
}

template <bool has_mask>
std::uint64_t largest(const double* values, const std::uint64_t* judged, std::size_t begin, std::size_t end) {
  std::uint64_t largest = 0;
  for (std::size_t i = begin; i < end; ++i)
    largest = std::max(largest, magnitude_bits(values[i]) & (has_mask ? judged[i] : ~std::uint64_t{0}));
  return largest;
}

template <bool has_mask> Maxima masked_maxima(const ComparandArrays& a, std::size_t begin, std::size_t end) {
  Maxima m;
  if (a.low)
    a.envelope ? join_errors<true, true, has_mask>(a, begin, end, m)
               : join_errors<true, false, has_mask>(a, begin, end, m);
  else
    a.envelope ? join_errors<false, true, has_mask>(a, begin, end, m)
               : join_errors<false, false, has_mask>(a, begin, end, m);
  if (a.bound) m.bound = largest<has_mask>(a.bound, a.judged, begin, end);
  m.magnitude = a.magnitude ? largest<has_mask>(a.magnitude, a.judged, begin, end) : m.golden;
  return m;
}

} // namespace

Maxima maxima_of(const ComparandArrays& arrays, std::size_t begin, std::size_t end) {
  return arrays.judged ? masked_maxima<true>(arrays, begin, end) : masked_maxima<false>(arrays, begin, end);
}

} // namespace assay
