#include "harness/numerics/errors.h"

#include "harness/base/check.h"
#include "harness/base/parallel.h"
#include "harness/numerics/formats.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

namespace assay {

namespace {

double low_word(const Comparands& c, std::size_t i) {
  return c.golden_low.empty() || comparable_golden(c.dtype, c.golden[i]) != c.golden[i] ? 0 : c.golden_low[i];
}

double difference(double value, const Comparands& c, std::size_t i) {
  return std::fabs(value - comparable_golden(c.dtype, c.golden[i]) - low_word(c, i));
}

// Whether values[i] - golden[i] is every element's error, and finite: the usual case, whose loops vectorise.
bool all_plain(const Comparands& c, std::span<const double> values) {
  if (!c.golden_low.empty() || format_of(c.dtype).overflow == Overflow::saturate) return false;
  std::atomic<bool> plain = true;
  in_ranges(values.size(), least_elements, [&](std::size_t begin, std::size_t end) {
    std::uint64_t largest = 0; // bit patterns of magnitudes are ordered as these are
    for (std::size_t i = begin; i < end; ++i)
      largest = std::max(largest, std::bit_cast<std::uint64_t>(std::fabs(values[i] - c.golden[i])));
    if (largest >= std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity())) plain = false;
  });
  return plain;
}

bool same(double a, double b) { return a == b || (a != a && b != b); }

void widen_one(const Comparands& c, double value, std::size_t i, double& envelope) {
  if (!std::isfinite(comparable_golden(c.dtype, c.golden[i]))) {
    if (!same(value, round_value(c.dtype, c.golden[i]))) envelope = std::numeric_limits<double>::infinity();
    return;
  }
  double error = difference(value, c, i);
  if (error != error) error = std::numeric_limits<double>::infinity();
  // An infinity that G shares is no error.
  if (std::isinf(error) && value == round_value(c.dtype, c.golden[i])) return;
  envelope = error > envelope ? error : envelope;
}

} // namespace

double comparable_golden(DType type, double golden) {
  const Format& format = format_of(type);
  if (format.overflow != Overflow::saturate || !(std::fabs(golden) > format.largest)) return golden;
  return std::copysign(format.largest, golden);
}

Standing standing(const Comparands& c, std::size_t i, double rounded, const Allowance& allowance) {
  const double g = comparable_golden(c.dtype, c.golden[i]), t = c.target[i];
  if (!c.formula_overflows.empty() && c.formula_overflows[i]) return Standing::formula_overflow;
  const bool by_envelope = !c.envelope_error.empty();
  if (!std::isfinite(g)) {
    if (same(t, rounded)) return Standing::same_special;
    const bool legal = by_envelope ? c.envelope_error[i] == 0 : same(c.reference[i], rounded);
    return legal ? Standing::wrong : Standing::formula_overflow;
  }

  const double legal_error = by_envelope ? c.envelope_error[i] : difference(c.reference[i], c, i);
  const bool legal_finite = std::isfinite(legal_error);
  if (std::isfinite(rounded) && std::isfinite(t) && legal_finite) return Standing::judged;
  if (std::isinf(rounded) && t == rounded) return Standing::same_special;

  const Format& format = format_of(c.dtype);
  const double low = low_word(c, i);
  const double bound = c.golden_bound.empty() ? 0 : c.golden_bound[i];
  const double own_floor = difference(round_unbounded(format, g), c, i);
  const double threshold =
      allowance.fudge * std::fmax(allowance.reference_error, legal_finite ? legal_error : 0) +
      std::fmax(allowance.absolute_floor, own_floor) + bound;
  // In two steps, because the edge itself lies above the largest double for f64.
  const double to_edge =
      std::fabs((format.largest - std::fabs(g)) + format.edge_gap() - std::copysign(low, low * g));
  const bool at_edge = format.overflow == Overflow::to_infinity && to_edge <= threshold;
  const bool edge_value = std::isfinite(t) || (std::isinf(t) && std::signbit(t) == std::signbit(g));
  // r infinite like g's edge: its store overflowed. Anything else that is not finite: its arithmetic did.
  const bool like_edge = std::isinf(c.reference[i]) && std::signbit(c.reference[i]) == std::signbit(g);

  if (at_edge && edge_value && (legal_finite || by_envelope || like_edge)) return Standing::overflow_edge;
  // An envelope counts an infinity that G shares as no error.
  const bool arithmetic_overflowed = !legal_finite && (std::isfinite(rounded) || by_envelope || !like_edge);
  if (arithmetic_overflowed) return Standing::formula_overflow;
  return Standing::wrong;
}

ExactResult compare_exact(std::span<const double> rounded, std::span<const double> alternative,
                          std::span<const double> target) {
  ASSAY_CHECK(rounded.size() == target.size() && (alternative.empty() || alternative.size() == target.size()),
              "{}, {} and {} elements", rounded.size(), alternative.size(), target.size());
  const auto compare = [&](std::size_t begin, std::size_t end) {
    ExactResult part;
    for (std::size_t i = begin; i < end; ++i) {
      if (same(target[i], rounded[i]) || (!alternative.empty() && same(target[i], alternative[i]))) continue;
      if (part.mismatches++ == 0) part.first = static_cast<std::int64_t>(i);
      if (std::isfinite(target[i]) && std::isfinite(rounded[i])) continue;
      if (part.misplaced++ == 0) part.first_misplaced = static_cast<std::int64_t>(i);
    }
    return part;
  };
  ExactResult all;
  for (const ExactResult& part : parts_of(target.size(), least_elements, compare)) {
    if (all.mismatches == 0) all.first = part.first;
    if (all.misplaced == 0) all.first_misplaced = part.first_misplaced;
    all.mismatches += part.mismatches;
    all.misplaced += part.misplaced;
  }
  return all;
}

void widen_envelope(const Comparands& c, std::span<const double> values, std::span<double> envelope) {
  ASSAY_CHECK(values.size() == c.golden.size() && envelope.size() == values.size(), "{}, {} and {} elements",
              values.size(), c.golden.size(), envelope.size());
  const bool plain = all_plain(c, values);
  in_ranges(values.size(), least_elements, [&](std::size_t begin, std::size_t end) {
    if (plain)
      for (std::size_t i = begin; i < end; ++i)
        envelope[i] = std::max(envelope[i], std::fabs(values[i] - c.golden[i]));
    else
      for (std::size_t i = begin; i < end; ++i) widen_one(c, values[i], i, envelope[i]);
  });
}

} // namespace assay
