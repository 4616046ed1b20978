#include "harness/numerics/gate.h"

#include "harness/base/check.h"
#include "harness/base/large_pages.h"
#include "harness/base/parallel.h"
#include "harness/numerics/bulk.h"
#include "harness/numerics/conditioning.h"
#include "harness/numerics/formats.h"
#include "harness/numerics/maxima.h"
#include "harness/numerics/ulp.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay {

namespace {

constexpr std::size_t few_lines = 64; // several threads share each, where it is long

class Judge {
 public:
  Judge(const Comparands& comparands, const GateRule& rule) : c_(comparands), rule_(rule) {
    const std::size_t count = c_.golden.size();
    const auto fits = [count](auto span) { return span.empty() || span.size() == count; };
    ASSAY_CHECK(c_.target.size() == count && fits(c_.golden_low) && fits(c_.golden_bound) &&
                    fits(c_.magnitude) && fits(c_.formula_overflows) && fits(c_.reference) &&
                    fits(c_.envelope_error) &&
                    (count == 0 || !c_.reference.empty() || !c_.envelope_error.empty()),
                "arrays of different lengths");
    whole_[1] = static_cast<std::int64_t>(count);
    lines_ = c_.line_starts.size() > 1 ? c_.line_starts : std::span<const std::int64_t>(whole_);
    ASSAY_CHECK(lines_.front() == 0 && lines_.back() == whole_[1], "lines do not cover the output");
    reserve_large(rounded_, count);
    rounded_.resize(count);
    round_values(c_.dtype, c_.golden, c_.golden_low, rounded_);
    if (is_float(c_.dtype) && format_of(c_.dtype).overflow == Overflow::saturate) saturate();
    const auto pointer = [](std::span<const double> span) { return span.empty() ? nullptr : span.data(); };
    arrays_ = {pointer(c_.golden),         pointer(c_.golden_low), pointer(c_.golden_bound),
               pointer(c_.magnitude),      pointer(c_.reference),  pointer(c_.target),
               pointer(c_.envelope_error), pointer(rounded_),      nullptr};
    flush_floor_ = c_.dtype == DType::f64 ? 0 : 0x1p-126 * rule_.flush_terms;
  }

  Comparison run() {
    const auto& flags = c_.formula_overflows;
    const bool overflows = first_where(flags.size(), least_elements,
                                       [&](std::size_t i) { return flags[i] != 0; }) < flags.size();
    if (!overflows) measure();
    if (overflows || !total_.finite()) {
      mark_judged();
      measure();
    } else {
      result_.structure.judged = whole_[1];
    }
    fill_gate();
    if (arrays_.judged) fill_structure();
    fill_lines();
    return result_;
  }

 private:
  void measure() {
    total_ = {};
    const std::size_t count = lines_.size() - 1;
    per_line_.assign(count, {});
    if (count < few_lines) {
      for (std::size_t line = 0; line < count; ++line) per_line_[line] = joined(start(line), start(line + 1));
    } else {
      const double least = least_elements * static_cast<double>(count) / static_cast<double>(rounded_.size());
      in_ranges(count, least, [&](std::size_t begin, std::size_t end) {
        for (std::size_t line = begin; line < end; ++line)
          per_line_[line] = maxima_of(arrays_, start(line), start(line + 1));
      });
    }
    for (const Maxima& line : per_line_) total_.join(line);
  }

  // maxima_of, of a long line by several threads.
  Maxima joined(std::size_t begin, std::size_t end) const {
    Maxima all;
    for (const Maxima& part : parts_of(end - begin, least_elements, [&](std::size_t first, std::size_t last) {
           return maxima_of(arrays_, begin + first, begin + last);
         }))
      all.join(part);
    return all;
  }

  void saturate() {
    saturated_golden_.assign(c_.golden.begin(), c_.golden.end());
    saturated_low_.assign(c_.golden_low.begin(), c_.golden_low.end());
    for (std::size_t i = 0; i < saturated_golden_.size(); ++i) {
      saturated_golden_[i] = comparable_golden(c_.dtype, c_.golden[i]);
      if (!saturated_low_.empty() && saturated_golden_[i] != c_.golden[i]) saturated_low_[i] = 0;
    }
    c_.golden = saturated_golden_;
    c_.golden_low = saturated_low_;
  }

  // Which elements are finite in g, G, r and t, and not excused: those that standing() calls judged.
  void mark_judged() {
    mask_.resize(rounded_.size());
    in_ranges(mask_.size(), least_elements, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const double legal = c_.envelope_error.empty() ? c_.reference[i] : c_.envelope_error[i];
        const bool judged = std::isfinite(c_.golden[i]) && std::isfinite(rounded_[i]) &&
                            std::isfinite(legal) && std::isfinite(c_.target[i]) &&
                            (c_.formula_overflows.empty() || !c_.formula_overflows[i]);
        mask_[i] = judged ? ~std::uint64_t{0} : 0;
      }
    });
    arrays_.judged = mask_.data();
  }

  void fill_gate() {
    Gate& gate = result_.gate;
    gate.reference_error = as_double(total_.reference);
    gate.rounding_floor = as_double(total_.rounding);
    gate.target_error = as_double(total_.target);
    gate.absolute_floor = floor_with(gate.rounding_floor);
    gate.golden_bound = as_double(total_.bound);
    gate.threshold = rule_.fudge * gate.reference_error + gate.absolute_floor + gate.golden_bound;
    gate.ratio = ratio(gate.target_error, gate.threshold);
    gate.golden_scale = as_double(total_.golden);
    gate.reference_relative_error =
        reference_relative_error(gate.reference_error, gate.golden_scale, gate.absolute_floor);
    gate.conditioned = gate.reference_relative_error <= rule_.reference_limit;
    gate.golden_exact_enough = exact_enough(gate.golden_bound, gate.threshold, 0, rounded_.size());
    result_.internal_fault = !std::isfinite(gate.threshold) && !std::isinf(gate.golden_bound);
    for (std::size_t line = 0; line < per_line_.size(); ++line) {
      if (gate.worst_element < 0 && per_line_[line].target == total_.target)
        gate.worst_element =
            find(line, total_.target, [this](std::size_t i) { return c_.target[i] - c_.golden[i] - low(i); });
      if (gate.worst_reference_element < 0 && per_line_[line].reference == total_.reference)
        gate.worst_reference_element = find(line, total_.reference, [this](std::size_t i) {
          return c_.envelope_error.empty() ? c_.reference[i] - c_.golden[i] - low(i) : c_.envelope_error[i];
        });
    }
  }

  void fill_structure() {
    Structure& all = result_.structure;
    for (const Structure& part :
         parts_of(rounded_.size(), least_elements,
                  [&](std::size_t begin, std::size_t end) { return structure_of(begin, end); })) {
      all.judged += part.judged;
      all.same_special += part.same_special;
      all.overflow_edge += part.overflow_edge;
      all.formula_overflow += part.formula_overflow;
      if (all.wrong == 0) all.first_wrong = part.first_wrong;
      all.wrong += part.wrong;
    }
  }

  Structure structure_of(std::size_t begin, std::size_t end) const {
    Structure structure;
    const Allowance allowance{rule_.fudge, result_.gate.reference_error, result_.gate.absolute_floor};
    for (std::size_t i = begin; i < end; ++i) {
      switch (standing(c_, i, rounded_[i], allowance)) {
      case Standing::judged:
        ++structure.judged;
        break;
      case Standing::same_special:
        ++structure.same_special;
        break;
      case Standing::overflow_edge:
        ++structure.overflow_edge;
        break;
      case Standing::formula_overflow:
        ++structure.formula_overflow;
        break;
      case Standing::wrong:
        if (structure.wrong++ == 0) structure.first_wrong = static_cast<std::int64_t>(i);
      }
    }
    return structure;
  }

  void fill_lines() {
    LineGate& worst = result_.gate.lines;
    double rho = 0;
    for (const Maxima& line : per_line_)
      if (line.magnitude != 0) rho = std::max(rho, as_double(line.reference) / as_double(line.magnitude));
    worst.rho = rho;
    for (std::size_t i = 0; i < per_line_.size(); ++i) {
      const Maxima& line = per_line_[i];
      if (!has_judged(i)) continue;
      const double error = as_double(line.target), magnitude = as_double(line.magnitude),
                   bound = as_double(line.bound);
      const double floor = floor_with(as_double(line.rounding));
      // rho * S is at least the line's own error by the choice of rho, except where S is 0.
      const double reach = std::max(rho * magnitude, as_double(line.reference));
      const double threshold = rule_.fudge * reach + floor + bound;
      if (!std::isfinite(threshold) && !std::isinf(bound)) result_.internal_fault = true;
      if (!exact_enough(bound, threshold, start(i), start(i + 1))) {
        ++worst.lines_invalid;
        continue;
      }
      if (error > threshold) ++worst.lines_over;
      if (const double r = ratio(error, threshold); worst.line < 0 || r > worst.ratio) {
        worst.line = static_cast<std::int64_t>(i);
        worst.target_error = error;
        worst.magnitude = magnitude;
        worst.reach = reach;
        worst.floor = floor;
        worst.golden_bound = bound;
        worst.threshold = threshold;
        worst.ratio = r;
      }
    }
    if (worst.line >= 0)
      worst.element = find(static_cast<std::size_t>(worst.line), magnitude_bits(worst.target_error),
                           [this](std::size_t i) { return c_.target[i] - c_.golden[i] - low(i); });
  }

  // The first judged element of the line whose error has exactly these bits; -1 where it has none.
  template <class Error> std::int64_t find(std::size_t line, std::uint64_t bits, Error error) const {
    for (std::size_t i = start(line); i < start(line + 1); ++i)
      if (judged(i) && magnitude_bits(error(i)) == bits) return static_cast<std::int64_t>(i);
    return -1;
  }

  bool exact_enough(double bound, double threshold, std::size_t begin, std::size_t end) const {
    if (bound == 0 || (!std::isinf(bound) && bound <= 0.01 * threshold)) return true;
    for (std::size_t i = begin; i < end; ++i)
      if (judged(i) && !(c_.golden_bound[i] <= 0.005 * spacing(c_.dtype, c_.golden[i]))) return false;
    return true;
  }

  bool has_judged(std::size_t line) const {
    if (!arrays_.judged) return start(line) < start(line + 1);
    return std::any_of(mask_.begin() + lines_[line], mask_.begin() + lines_[line + 1],
                       [](std::uint64_t m) { return m; });
  }

  static double ratio(double error, double threshold) { return error == 0 ? 0 : error / threshold; }
  double floor_with(double rounding) const { return std::max({rule_.atol, rounding, flush_floor_}); }
  double low(std::size_t i) const { return c_.golden_low.empty() ? 0 : c_.golden_low[i]; }
  bool judged(std::size_t i) const { return !arrays_.judged || mask_[i]; }
  std::size_t start(std::size_t line) const { return static_cast<std::size_t>(lines_[line]); }

  Comparands c_;
  std::vector<double> saturated_golden_, saturated_low_; // what c_ points to where the type saturates
  const GateRule& rule_;
  std::int64_t whole_[2] = {0, 0}; // one line
  std::span<const std::int64_t> lines_;
  std::vector<double> rounded_; // G
  std::vector<std::uint64_t> mask_;
  ComparandArrays arrays_{};
  double flush_floor_ = 0;
  Maxima total_;
  std::vector<Maxima> per_line_;
  Comparison result_;
};

} // namespace

Comparison compare(const Comparands& comparands, const GateRule& rule) {
  return Judge(comparands, rule).run();
}

} // namespace assay
