#include "harness/inputs/kinds.h"
#include "harness/inputs/legal.h"
#include "harness/numerics/formats.h"
#include "harness/run/describe.h"
#include "harness/run/suspect_tests.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace assay {

namespace {

using Index = std::vector<std::int64_t>;

constexpr std::size_t most_probes = 28;         // elements of one input
constexpr std::int64_t most_elements = 1 << 17; // of a case that is probed

std::int64_t flat(const Index& index, const std::vector<std::int64_t>& shape) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + index[d];
  return at;
}

Index unflat(std::int64_t at, const std::vector<std::int64_t>& shape) {
  Index index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = at % shape[d];
    at /= shape[d];
  }
  return index;
}

// What one element of one input moved: pairs (element, output element).
struct Moves {
  std::int64_t own = 0;         // it should move, and moved, at its own coordinates
  std::int64_t others = 0;      // likewise elsewhere
  std::int64_t ignored_own = 0; // it should move, but did not
  std::int64_t ignored_others = 0;
  std::int64_t extra = 0;                            // it moved, but should not
  std::int64_t first_ignored = -1, first_extra = -1; // output elements
};

class Prober {
 public:
  Prober(Kernel& kernel, const FailingTrial& failing) : kernel_(kernel), failing_(failing) {}

  // Elements worth replacing: along each axis of the input, the places where tiles begin and end; other axes
  // at the coordinates of the worst output element, where the two share a dim.
  std::vector<Index> places(std::size_t tensor) const {
    const PlannedTensor& input = failing_.trial.plan.tensors[tensor];
    const TensorReport& report = failing_.report();
    const std::vector<std::int64_t>& shape = input.shape;
    Index base(shape.size(), 0);
    if (report.worst >= 0) {
      const Index worst = unflat(report.worst, report.shape);
      const auto& axes = failing_.trial.plan.tensors[report.tensor].info->shape;
      for (std::size_t d = 0; d < shape.size(); ++d)
        for (std::size_t k = 0; k < axes.size(); ++k)
          if (axes[k] == input.info->shape[d]) base[d] = std::min(worst[k], shape[d] - 1);
    }
    std::set<Index> chosen{base};
    const std::size_t each = std::max<std::size_t>(4, most_probes / shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      std::set<std::int64_t> along{0, 1, shape[d] / 2, shape[d] - 2, shape[d] - 1};
      for (const std::int64_t tile : tile_sizes(kernel_, failing_.trial.plan)) {
        if (along.size() >= each) break;
        along.insert({shape[d] / tile * tile - 1, shape[d] / tile * tile});
        if (tile >= 16) along.insert({tile - 1, tile});
      }
      for (const std::int64_t at : along) {
        if (at < 0 || at >= shape[d]) continue;
        Index index = base;
        index[d] = at;
        chosen.insert(std::move(index));
      }
    }
    return {chosen.begin(), chosen.end()};
  }

  // nullopt: no two other legal values with which the case runs.
  std::optional<Moves> moves(std::size_t tensor, const Index& place) {
    const std::vector<std::uint64_t> values = replacements(tensor, place);
    std::vector<Trial> trials;
    for (const std::uint64_t bits : values) {
      Case changed = failing_.test_case;
      const std::string& name = failing_.trial.plan.tensors[tensor].info->name;
      const auto input = std::ranges::find(changed.inputs, name, &TensorInput::tensor);
      input->overrides.push_back({place, bits});
      auto trial = run_trial(kernel_, changed);
      if (!trial || trial->tensors.size() != failing_.trial.tensors.size() ||
          trial->target[failing_.output].size() != failing_.trial.target[failing_.output].size())
        continue;
      trials.push_back(*std::move(trial));
    }
    if (trials.empty()) return std::nullopt;
    return compare(tensor, place, trials);
  }

 private:
  const std::vector<double>& target() const { return failing_.trial.target[failing_.output]; }
  const std::vector<double>& golden() const { return failing_.trial.golden[failing_.output].value; }

  std::vector<std::uint64_t> replacements(std::size_t tensor, const Index& place) const {
    const Tensor& input = failing_.trial.inputs[tensor];
    const Domain& domain = failing_.trial.plan.tensors[tensor].info->domain;
    const std::vector<double> values = widen(input);
    const double old = values[static_cast<std::size_t>(flat(place, input.shape))];
    const std::int64_t limit = index_limit(domain, failing_.test_case.dims);
    std::vector<std::uint64_t> legal;
    const auto add = [&](double value) {
      const std::uint64_t bits = to_bits(input.dtype, value);
      if (from_bits(input.dtype, bits) != old && std::isfinite(from_bits(input.dtype, bits)) &&
          is_legal_value(domain, input.dtype, limit, bits) && std::ranges::find(legal, bits) == legal.end())
        legal.push_back(bits);
    };
    if (!is_float(input.dtype)) {
      for (const double value : {old + 1, old - 1, 0.0, 1.0, static_cast<double>(limit - 1)})
        if (legal.size() < 2) add(value);
      return legal;
    }
    for (const double value : {2.0, -1.5, 0.75}) add(value); // far from N(0, 1/4), and far from saturating
    return legal;
  }

  // Whether golden moved far more than any right kernel could err.
  double allowance(const Trial& other) const {
    const auto own = [&](const Trial& trial) {
      const Gate& gate = trial.tensors[failing_.output].comparison.gate;
      return std::max(gate.threshold, gate.lines.threshold);
    };
    return own(failing_.trial) + own(other);
  }

  bool shares_coordinates(std::size_t tensor, const Index& place, std::int64_t element) const {
    const TensorReport& report = failing_.report();
    const auto& axes = failing_.trial.plan.tensors[report.tensor].info->shape;
    const auto& input_axes = failing_.trial.plan.tensors[tensor].info->shape;
    const Index at = unflat(element, report.shape);
    for (std::size_t d = 0; d < input_axes.size(); ++d)
      for (std::size_t k = 0; k < axes.size(); ++k)
        if (axes[k] == input_axes[d] && at[k] != place[d]) return false;
    return true;
  }

  Moves compare(std::size_t tensor, const Index& place, const std::vector<Trial>& trials) const {
    Moves moves;
    for (std::size_t k = 0; k < target().size(); ++k) {
      const double g = golden()[k], t = target()[k];
      if (!std::isfinite(g) || !std::isfinite(t)) continue;
      bool all_should = true, none_should = true, none_did = true, any_far = false, known = true;
      for (const Trial& other : trials) {
        const Evaluated& golden_other = other.golden[failing_.output];
        const double g2 = golden_other.value[k], t2 = other.target[failing_.output][k];
        known = known && std::isfinite(g2) && std::isfinite(t2) &&
                (golden_other.formula_overflows.empty() || !golden_other.formula_overflows[k]);
        const double slack = allowance(other);
        all_should = all_should && std::fabs(g2 - g) > 8 * slack;
        none_should = none_should && g2 == g;
        none_did = none_did && t2 == t;
        any_far = any_far || std::fabs(t2 - t) > 8 * slack;
      }
      if (!known) continue;
      const auto element = static_cast<std::int64_t>(k);
      if (all_should) {
        const bool own = shares_coordinates(tensor, place, element);
        ++(none_did ? (own ? moves.ignored_own : moves.ignored_others) : (own ? moves.own : moves.others));
        if (none_did && moves.first_ignored < 0) moves.first_ignored = element;
      } else if (none_should && any_far && !shares_coordinates(tensor, place, element)) {
        ++moves.extra;
        if (moves.first_extra < 0) moves.first_extra = element;
      }
    }
    return moves;
  }

  Kernel& kernel_;
  const FailingTrial& failing_;
};

// All that was learnt of one input.
struct InputMoves {
  Moves total;
  std::string ignored, extra; // "y[0,3]" by "x[0,7]": the first pair
  int probed = 0;
};

std::string pair_text(const FailingTrial& failing, std::size_t tensor, const Index& place,
                      std::int64_t element) {
  const PlannedTensor& input = failing.trial.plan.tensors[tensor];
  const TensorReport& report = failing.report();
  return fmt::format("{} by {}", element_text(report.name, report.shape, element),
                     element_text(input.info->name, input.shape, flat(place, input.shape)));
}

InputMoves probe(Prober& prober, const FailingTrial& failing, std::size_t tensor) {
  InputMoves all;
  for (const Index& place : prober.places(tensor)) {
    const auto moves = prober.moves(tensor, place);
    if (!moves) continue;
    ++all.probed;
    all.total.own += moves->own;
    all.total.others += moves->others;
    all.total.ignored_own += moves->ignored_own;
    all.total.ignored_others += moves->ignored_others;
    all.total.extra += moves->extra;
    if (moves->first_ignored >= 0 && all.ignored.empty())
      all.ignored = pair_text(failing, tensor, place, moves->first_ignored);
    if (moves->first_extra >= 0 && all.extra.empty())
      all.extra = pair_text(failing, tensor, place, moves->first_extra);
  }
  return all;
}

Evidences conclude_from(const std::string& name, Pass pass, const InputMoves& moves) {
  const Moves& m = moves.total;
  if (m.extra > 0)
    return {{Cause::indexing, 0.95,
             fmt::format("elements of {} move what does not depend on them: {}", name, moves.extra)}};
  const std::int64_t ignored = m.ignored_own + m.ignored_others, moved = m.own + m.others;
  if (ignored == 0) {
    if (moved == 0) return {};
    return {{Cause::indexing, 0.1,
             fmt::format("{} elements of {} were replaced one at a time, and each moved what it must and "
                         "nothing else",
                         moves.probed, name)}};
  }
  // Beside the element's own coordinates nothing moves at all: no index is that wrong, a term is missing.
  const bool term_missing = m.others == 0 && m.ignored_own == 0 && m.own > 0;
  const std::string seen =
      fmt::format("{} of {} dependences on {} that the operator has are missing: {} is not moved", ignored,
                  ignored + moved, name, moves.ignored);
  if (term_missing && pass == Pass::backward)
    return {{Cause::backward_formula, 0.95,
             fmt::format("{}, nor anything but the element's own gradient: a term is missing", seen)}};
  if (term_missing) return {{Cause::indexing, 0.5, seen}};
  return {{Cause::indexing, moved > 0 ? 0.93 : 0.7, seen}};
}

// The case with inputs so small and so plain that every dependence of the formula shows: N(0, 1/4), at the
// layout it has.
Case gentle(const Kernel& kernel, const Case& test_case) {
  Case plain = with_usual_inputs(kernel, test_case);
  for (std::size_t i = 0; i < plain.inputs.size(); ++i) {
    plain.inputs[i].layout = test_case.inputs[i].layout;
    const std::array quarter{0.0, 0.25};
    if (plain.inputs[i].distribution.kind == "normal")
      plain.inputs[i].distribution = make_distribution(DistributionKind::normal, quarter);
  }
  return plain;
}

// The case by itself, whether it fails or not.
std::optional<FailingTrial> run_plainly(Kernel& kernel, const Case& test_case, const std::string& output) {
  auto trial = run_trial(kernel, test_case);
  if (!trial) return std::nullopt;
  for (std::size_t i = 0; i < trial->tensors.size(); ++i)
    if (trial->tensors[i].name == output && !trial->target[i].empty())
      return FailingTrial{test_case, *std::move(trial), i};
  return std::nullopt;
}

} // namespace

Evidences suspect_influence(const Scene& scene) {
  // The richest case that can be run a hundred times tells most.
  const auto work = [](const FailingTrial& failing) { return work_of(failing.test_case.dims); };
  const FailingTrial* richest = nullptr;
  for (const FailingTrial& failing : scene.trials)
    if (work(failing) <= little_work && (!richest || work(failing) > work(*richest))) richest = &failing;
  if (!richest && !scene.trials.empty()) richest = &*std::ranges::min_element(scene.trials, {}, work);
  if (!richest) return {};
  auto base =
      run_plainly(scene.kernel, gentle(scene.kernel, richest->test_case), scene.finding.signature.output);
  if (!base) return {};
  base->trial.tensors[base->output].worst = richest->report().worst; // where it is known to be wrong
  Evidences found;
  Prober prober(scene.kernel, *base);
  for (std::size_t i = 0; i < base->trial.inputs.size(); ++i) {
    const Tensor& input = base->trial.inputs[i];
    if (input.bytes.empty() || input.element_count() > most_elements) continue;
    const InputMoves moves = probe(prober, *base, i);
    for (CauseEvidence& evidence :
         conclude_from(base->trial.plan.tensors[i].info->name, scene.finding.signature.pass, moves))
      found.push_back(std::move(evidence));
  }
  return found;
}

} // namespace assay
