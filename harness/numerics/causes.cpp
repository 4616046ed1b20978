#include "harness/numerics/causes.h"

#include "harness/numerics/ulp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace assay {

namespace {

constexpr std::array<std::string_view, cause_count> names{
    "indexing and masks",  "accumulation type",    "premature cast",  "reduction order",
    "numerical stability", "approximate function", "backward formula"};

// The strongest of each cause.
std::vector<CauseEvidence> strongest(std::span<const CauseEvidence> evidence) {
  std::vector<CauseEvidence> best;
  for (const CauseEvidence& one : evidence) {
    const auto known = std::ranges::find(best, one.cause, &CauseEvidence::cause);
    if (known == best.end())
      best.push_back(one);
    else if (one.score > known->score)
      *known = one;
  }
  std::ranges::sort(best, [](const CauseEvidence& a, const CauseEvidence& b) {
    return a.score != b.score ? a.score > b.score : a.cause < b.cause;
  });
  return best;
}

bool same_value(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

} // namespace

std::string_view name_of(Cause cause) { return names[static_cast<std::size_t>(cause)]; }

std::vector<CauseEvidence> ranked(std::span<const CauseEvidence> evidence) {
  std::vector<CauseEvidence> best = strongest(evidence);
  std::erase_if(best, [](const CauseEvidence& one) { return one.score < least_score; });
  return best;
}

std::vector<CauseEvidence> cleared(std::span<const CauseEvidence> evidence) {
  std::vector<CauseEvidence> best = strongest(evidence);
  std::erase_if(best, [](const CauseEvidence& one) { return one.score >= least_score; });
  std::ranges::sort(best, {}, &CauseEvidence::cause);
  return best;
}

void Likeness::add(const Likeness& other) {
  telling += other.telling;
  same += other.same;
  misplaced += other.misplaced;
  target_square += other.target_square;
  rest_square += other.rest_square;
  suspect_square += other.suspect_square;
  foretold += other.foretold;
  foretold_of += other.foretold_of;
}

double Likeness::share() const {
  if (telling == 0) return 0;
  const auto count = static_cast<double>(telling);
  const double by_value = static_cast<double>(same) / count;
  const double by_size = target_square > 0 ? std::max(0.0, 1 - rest_square / target_square) : 0;
  const double wrong = static_cast<double>(misplaced) / (count + static_cast<double>(misplaced));
  const double refuted =
      foretold_of == 0 ? 0 : static_cast<double>(foretold) / static_cast<double>(foretold_of);
  return std::max(by_value, by_size) * (1 - wrong) * (1 - refuted) * (1 - std::exp2(1 - count));
}

double Likeness::size_ratio() const {
  if (target_square == 0) return suspect_square == 0 ? 1 : std::numeric_limits<double>::infinity();
  return std::sqrt(suspect_square / target_square);
}

Likeness likeness(const Comparands& comparands, std::span<const double> suspect) {
  constexpr double roundings = 16;
  const double unit_roundoff = comparands.dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
  double reference_error = 0; // what is within it is not foretold
  for (std::size_t k = 0; k < suspect.size(); ++k)
    if (std::isfinite(comparands.reference[k]) && std::isfinite(comparands.golden[k]))
      reference_error = std::max(reference_error, std::fabs(comparands.reference[k] - comparands.golden[k]));
  Likeness result;
  for (std::size_t k = 0; k < suspect.size(); ++k) {
    const double g = comparable_golden(comparands.dtype, comparands.golden[k]);
    const double t = comparands.target[k], s = suspect[k];
    if (!std::isfinite(g) || (!comparands.formula_overflows.empty() && comparands.formula_overflows[k]))
      continue;
    const double size = comparands.magnitude.empty() ? std::fabs(g) : comparands.magnitude[k];
    const double slack = spacing(comparands.dtype, g) + roundings * unit_roundoff * size;
    const bool telling = !(std::fabs(t - g) <= slack);
    result.telling += telling;
    result.same += telling && same_value(t, s);
    result.foretold_of += !telling;
    result.foretold += !telling && !(std::fabs(s - g) <= 4 * (slack + reference_error));
    if (std::isfinite(t) != std::isfinite(s)) ++result.misplaced;
    if (!std::isfinite(t) || !std::isfinite(s)) continue;
    const double unit = std::max(size, spacing(comparands.dtype, 0));
    const auto square = [&](double difference) { return (difference / unit) * (difference / unit); };
    result.target_square += square(t - g);
    result.rest_square += square(t - s);
    result.suspect_square += square(s - g);
  }
  return result;
}

} // namespace assay
