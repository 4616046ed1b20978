#include "harness/reduce/minimize.h"

#include "harness/cases/order.h"
#include "harness/numerics/confirmation.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace assay {

namespace {

// The order of passes: first what makes every later run cheaper, last what only tidies.
constexpr std::array<Axis, axis_count> passes{
    Axis::dims,   Axis::pass,        Axis::dtype,     Axis::layout, Axis::patches, Axis::distributions,
    Axis::params, Axis::materialise, Axis::overrides, Axis::values, Axis::seeds,
};

constexpr std::size_t slow_elements = std::size_t{1} << 15;

class Shrinker {
 public:
  Shrinker(const Case& failing, const CaseSpace& space, const ShouldKeep& should_keep,
           const MinimizeLimits& limits)
      : space_(space), should_keep_(should_keep), limits_(limits),
        end_(std::chrono::steady_clock::now() + limits.time) {
    result_.test_case = failing;
  }

  Minimized run() {
    if (elements_off_base(result_.test_case, space_) > slow_elements) plainest_values();
    for (bool shrunk = true; shrunk && result_.complete;) {
      shrunk = false;
      for (const Axis axis : passes) shrunk = exhaust(axis) || shrunk;
    }
    return std::move(result_);
  }

 private:
  bool out_of_budget() {
    if (result_.runs >= limits_.runs || std::chrono::steady_clock::now() >= end_) result_.complete = false;
    return !result_.complete;
  }

  bool keeps(const Case& candidate) {
    // What failed to fail once is not tried again, whatever led back to it.
    if (!refused_.insert(to_text(candidate)).second) return false;
    ++result_.runs;
    return should_keep_(candidate);
  }

  // Where every run takes its time, one value everywhere before anything else: most faults of large shapes
  // are about places.
  void plainest_values() {
    constexpr std::size_t on_all_inputs = 2; // the boldest: all zero, all one constant
    for (const Axis axis : {Axis::patches, Axis::distributions}) {
      std::vector<Case> candidates = simplifications(result_.test_case, space_, axis);
      candidates.resize(std::min(candidates.size(), on_all_inputs));
      for (Case& candidate : candidates) {
        if (out_of_budget()) return;
        if (!keeps(candidate)) continue;
        result_.test_case = std::move(candidate);
        ++result_.steps;
        break;
      }
    }
  }

  bool step(Axis axis) {
    for (Case& candidate : simplifications(result_.test_case, space_, axis)) {
      if (out_of_budget()) return false;
      if (!simpler(candidate, result_.test_case) || !keeps(candidate)) continue;
      result_.test_case = std::move(candidate);
      ++result_.steps;
      return true;
    }
    return false;
  }

  bool exhaust(Axis axis) {
    bool shrunk = false;
    while (result_.complete && step(axis)) shrunk = true;
    return shrunk;
  }

  const CaseSpace& space_;
  const ShouldKeep& should_keep_;
  MinimizeLimits limits_;
  std::chrono::steady_clock::time_point end_;
  std::set<std::string> refused_;
  Minimized result_;
};

std::int64_t elements_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

} // namespace

double kept_severity(double original) { return severity_to_keep(original); }

Minimized minimize(const Case& failing, const CaseSpace& space, const ShouldKeep& should_keep,
                   const MinimizeLimits& limits) {
  return Shrinker(failing, space, should_keep, limits).run();
}

std::size_t elements_off_base(const Case& test_case, const CaseSpace& space) {
  std::int64_t count = 0;
  for (const TensorInput& input : test_case.inputs) {
    count += std::ssize(input.overrides);
    const auto spec = std::ranges::find(space.inputs, input.tensor, &InputSpec::name);
    if (spec == space.inputs.end()) continue;
    const auto shape = shape_of(*spec, test_case.dims);
    if (!shape || elements_of(*shape) == 0) continue;
    const std::int64_t line = shape->empty() ? 1 : shape->back();
    const std::int64_t lines = elements_of(*shape) / line;
    const auto generated = [&](const Distribution& distribution, std::int64_t of_lines) -> std::int64_t {
      const DistributionRule* rule = find_distribution(distribution.kind);
      if (!rule || rule->spread == Spread::nothing) return 0;
      return rule->spread == Spread::one_a_line ? of_lines : of_lines * line;
    };
    count += generated(input.distribution, lines);
    for (const LinePatch& patch : input.patches) count += generated(patch.distribution, patch.count);
  }
  return static_cast<std::size_t>(count);
}

} // namespace assay
