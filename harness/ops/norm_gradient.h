// grad_x of a norm is a difference times rstd. Legal forms have a factor meet each of its terms beforehand:
// rstd * h - rstd * z * mean(h * z), with rstd^3 * mean(h * x) first or not, or
// n * h - z * sum(h * z), which is then multiplied by rstd / n.
#pragma once

namespace assay {

template <class... Numbers> double sum_of_sizes(const Numbers&... numbers) {
  return (__builtin_fabs(numbers.value().high) + ...);
}

// Golden takes the difference first. What a factor makes of all its terms, `size` in sum, may be past the
// largest finite value where the difference times rstd is not.
template <class Number> void note_overflow(Number& gradient, double size, const Number& rstd, long long n) {
  const double scale = __builtin_fabs(rstd.value().high), count = static_cast<double>(n);
  if (gradient.finite() && !(size * (scale > count ? scale : count) < Number::may_overflow))
    gradient.mark_overflow();
}

} // namespace assay
