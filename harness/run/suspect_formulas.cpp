#include "harness/run/analysis.h"
#include "harness/run/suspect_tests.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay {

namespace {

// Formulas of one kind that a kernel might have computed instead.
struct Hypothesis {
  Cause cause;
  std::string what; // "its accumulator rounded to f16 after every term"
  std::vector<Instrument> instruments;
};

constexpr std::int64_t fallback_telling = 16; // elements, where only the size of errors is compared

std::vector<DType> narrower_types(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return {DType::f32};
  case DType::f32:
    return {DType::f16, DType::bf16};
  default:
    return {dtype};
  }
}

// Orders in which kernels add: the legal ones, at every width that is likely.
std::vector<Instrument> orders_of(const Scene& scene) {
  std::vector<Instrument> orders(1);
  if (!scene.kernel.op().info().reduces) return orders;
  orders.push_back({.order = Order::pairwise});
  for (const std::int64_t width : tile_sizes(scene.kernel, scene.trials.front().trial.plan))
    for (const Order order : {Order::strided, Order::blocked}) {
      Instrument instrument;
      instrument.order = order;
      instrument.width = width;
      orders.push_back(instrument);
    }
  return orders;
}

std::vector<Instrument> with_algorithms(const Scene& scene, const std::vector<Instrument>& instruments) {
  const OpInfo& info = scene.kernel.op().info();
  const auto& names =
      scene.finding.signature.pass == Pass::forward ? info.algorithms : info.backward_algorithms;
  std::vector<Instrument> all;
  for (int algorithm = 0; algorithm < std::max(1, static_cast<int>(names.size())); ++algorithm)
    for (Instrument instrument : instruments) {
      instrument.algorithm = algorithm;
      all.push_back(instrument);
    }
  return all;
}

std::vector<Instrument> narrowed(std::vector<Instrument> instruments, unsigned which, DType type) {
  for (Instrument& instrument : instruments) {
    instrument.narrowed = which;
    instrument.narrow = type;
  }
  return instruments;
}

std::vector<Hypothesis> hypotheses_of(const Scene& scene) {
  const OpInfo& info = scene.kernel.op().info();
  const std::vector<Instrument> orders = with_algorithms(scene, orders_of(scene));
  const std::vector<Instrument> plain = with_algorithms(scene, {Instrument{}});
  std::vector<Hypothesis> all;
  for (const DType type : narrower_types(scene.finding.test_case.dtype)) {
    if (info.reduces) {
      all.push_back({Cause::accumulation_type,
                     fmt::format("sums rounded to {} after every term", name_of(type)),
                     narrowed(orders, narrowed_accumulators, type)});
      all.push_back({Cause::accumulation_type,
                     fmt::format("products and sums rounded to {} after every term", name_of(type)),
                     narrowed(orders, narrowed_accumulators | narrowed_products, type)});
    }
    const std::pair<unsigned, const char*> places[] = {
        {narrowed_functions, "every function"},
        {narrowed_products, "every product"},
        {narrowed_quotients, "every quotient"},
        {narrowed_additions, "every sum of two and every difference"},
        {narrowed_sums, "every finished sum"},
        {narrowed_functions | narrowed_products | narrowed_quotients | narrowed_additions | narrowed_sums,
         "every intermediate but accumulators"}};
    for (const auto& [which, what] : places)
      all.push_back({Cause::premature_cast, fmt::format("{} rounded to {}", what, name_of(type)),
                     narrowed(which == narrowed_functions && info.reduces ? orders : plain, which, type)});
  }
  for (const unsigned way : {exponent_products, exponent_fused})
    all.push_back({Cause::approximate_function,
                   fmt::format("exp(x - m) taken as exp2 of {}, which loses digits in proportion to x",
                               way == exponent_products ? "a difference of products with log2(e)"
                                                        : "x * log2(e) less the product m * log2(e)"),
                   narrowed(orders, way, scene.finding.test_case.dtype)});
  if (info.reduces) {
    Hypothesis no_maximum{Cause::numerical_stability, "no maximum subtracted before exponentials", {}};
    Hypothesis one_pass{Cause::numerical_stability, "the variance as E[x^2] - E[x]^2", {}};
    for (Instrument instrument : orders_of(scene)) {
      instrument.without_maximum = true;
      no_maximum.instruments.push_back(instrument);
      instrument.without_maximum = false;
      instrument.one_pass_variance = true;
      for (const bool contract : {false, true}) {
        instrument.contract = contract;
        one_pass.instruments.push_back(instrument);
      }
    }
    all.push_back(std::move(no_maximum));
    all.push_back(std::move(one_pass));
  }
  return all;
}

struct Match {
  Likeness likeness;
  Instrument instrument;
};

// The trials that are cheap to evaluate a few hundred times, all together; at least the cheapest failing one.
std::vector<const FailingTrial*> cheap_trials(const Scene& scene) {
  const auto work = [](const FailingTrial* failing) { return work_of(failing->test_case.dims); };
  std::vector<const FailingTrial*> all;
  double total = 0;
  for (const auto* trials : {&scene.trials, &scene.right}) {
    std::vector<const FailingTrial*> sorted;
    for (const FailingTrial& failing : *trials) sorted.push_back(&failing);
    std::ranges::sort(sorted, {}, work);
    for (const FailingTrial* failing : sorted) {
      if (!all.empty() && total + work(failing) > little_work) break;
      all.push_back(failing);
      total += work(failing);
    }
  }
  return all;
}

// The instrument that accounts best for the target, over all trials together.
Match best_match(const Scene& scene, std::span<const FailingTrial* const> trials,
                 const Hypothesis& hypothesis) {
  Match best;
  for (const Instrument& instrument : hypothesis.instruments) {
    Likeness total;
    for (const FailingTrial* failing : trials) {
      const std::vector<Evaluated> values = evaluate_tested(scene.kernel.op(), failing->trial, instrument);
      total.add(likeness(comparands_of(failing->trial, failing->output), values[failing->output].value));
    }
    if (best.likeness.telling == 0 || total.share() > best.likeness.share()) best = {total, instrument};
  }
  return best;
}

} // namespace

Evidences suspect_formulas(const Scene& scene) {
  Evidences found;
  if (scene.trials.empty() || scene.trials.front().report().exact) return found;
  const OpInfo& info = scene.kernel.op().info();
  const std::vector<const FailingTrial*> trials = cheap_trials(scene);
  // What the plain formula accounts for, no suspect does.
  const double plain =
      best_match(scene, trials, {Cause::reduction_order, {}, {Instrument{}}}).likeness.share();
  for (const Hypothesis& hypothesis : hypotheses_of(scene)) {
    const auto [likeness, instrument] = best_match(scene, trials, hypothesis);
    const double share = std::max(0.0, (likeness.share() - plain) / (1 - std::min(plain, 0.99)));
    Instrument order = instrument;
    order.narrowed = 0;
    CauseEvidence evidence{hypothesis.cause, 0.97 * share, {}};
    if (share >= least_score) {
      evidence.evidence = fmt::format(
          "with {} the formula ({}) accounts for {:.0f}% of the error: the target's very value at {} of {} "
          "wrong elements",
          hypothesis.what, name_of(order, info, scene.finding.signature.pass), 100 * share, likeness.same,
          likeness.telling);
    } else if (hypothesis.cause == Cause::accumulation_type && likeness.telling >= fallback_telling &&
               likeness.misplaced == 0 && likeness.size_ratio() > 0.4 && likeness.size_ratio() < 2.5) {
      evidence.score = 0.45;
      evidence.evidence = fmt::format("with {} the formula errs as much as the target does ({:.2g} times, in "
                                      "root mean square over {} elements), though not alike",
                                      hypothesis.what, likeness.size_ratio(), likeness.telling);
    } else {
      evidence.evidence =
          fmt::format("with {} the formula accounts for {:.0f}% of the error", hypothesis.what, 100 * share);
    }
    found.push_back(std::move(evidence));
  }
  return found;
}

} // namespace assay
