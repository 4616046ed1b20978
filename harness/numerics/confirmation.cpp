#include "harness/numerics/confirmation.h"

#include "harness/base/check.h"

#include <algorithm>
#include <cmath>

namespace assay {

double confirmed_threshold(const Suspect& suspect) {
  return suspect.fudge * suspect.envelope_error + suspect.absolute_floor + suspect.golden_bound;
}

double severity(const Suspect& suspect) {
  return suspect.target_error == 0 ? 0 : suspect.target_error / confirmed_threshold(suspect);
}

Confirmation judge_on_input(const Suspect& suspect) {
  const double threshold = confirmed_threshold(suspect);
  if (suspect.target_error <= threshold) return Confirmation::not_confirmed;
  if (suspect.target_error > suspect.rigorous_bound + suspect.absolute_floor + suspect.golden_bound)
    return Confirmation::finding_at_once;
  return Confirmation::needs_redraws;
}

Confirmation judge_with_redraws(const Suspect& suspect, std::span<const double> ratios,
                                int envelope_instruments) {
  const Confirmation first = judge_on_input(suspect);
  if (first != Confirmation::needs_redraws) return first;
  ASSAY_CHECK(envelope_instruments > 0, "an envelope of {} instruments", envelope_instruments);
  const int redraws = static_cast<int>(ratios.size());
  if (redraws < confirmation_min_redraws) return Confirmation::not_confirmed;
  const int above = static_cast<int>(std::ranges::count_if(ratios, [](double ratio) { return ratio > 1; }));
  const int needed = exceedances_needed(redraws, 1.0 / (envelope_instruments + 1), confirmation_false_alarm);
  return above >= needed ? Confirmation::finding_by_share : Confirmation::not_confirmed;
}

BeyondBound beyond_rigorous_bound(const Comparands& c, std::span<const double> rigorous,
                                  double absolute_floor) {
  ASSAY_CHECK(rigorous.size() == c.golden.size(), "{} bounds for {} elements", rigorous.size(),
              c.golden.size());
  BeyondBound worst;
  double worst_ratio = 1;
  for_each_counted(c, [&](std::size_t i, double, double low) {
    const double error = std::fabs(c.target[i] - comparable_golden(c.dtype, c.golden[i]) - low);
    const double allowed = rigorous[i] + absolute_floor + (c.golden_bound.empty() ? 0 : c.golden_bound[i]);
    const double ratio = error == 0 ? 0 : error / allowed;
    if (!(ratio > worst_ratio)) return;
    worst_ratio = ratio;
    worst = {static_cast<std::int64_t>(i), error, rigorous[i]};
  });
  return worst;
}

double binomial_tail(int n, double p, int k) {
  if (k <= 0) return 1;
  double tail = 0;
  for (int i = n; i >= k; --i) { // the smallest first
    const double log_ways = std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0);
    tail += std::exp(log_ways + i * std::log(p) + (n - i) * std::log1p(-p));
  }
  return tail;
}

int exceedances_needed(int n, double p, double false_alarm) {
  for (int k = 0; k <= n; ++k)
    if (binomial_tail(n, p, k) <= false_alarm) return k;
  return n + 1;
}

double severity_to_keep(double original) { return std::min(4.0, original / 2); }

} // namespace assay
