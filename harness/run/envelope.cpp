#include "harness/run/envelope.h"

#include "harness/numerics/bulk.h"
#include "harness/numerics/ulp.h"
#include "harness/run/earned_nan.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace assay {

namespace {

using Number = Instrument::Number;
using Functions = Instrument::Functions;

// Each algorithm has a few draws of its own.
constexpr int noise_draws_an_algorithm = 4, moving_draws_an_algorithm = 2;
// Terms in another order than they lie in memory. Blocks that add by atomics come in any.
constexpr std::int64_t few_permutations = 3, many_permutations = 12;

struct OrderChoice {
  Order order = Order::sequential;
  std::int64_t width = 1;
};

int algorithms_of(const OpInfo& op, const Plan& plan) {
  const auto& names = plan.pass == Pass::forward ? op.algorithms : op.backward_algorithms;
  return std::max(1, static_cast<int>(names.size()));
}

std::vector<OrderChoice> orders_of(const OpInfo& op, const Manifest& manifest, const Plan& plan) {
  if (!op.reduces) return {{}};
  std::set<std::int64_t> tiles, threads;
  for (const DimRange& dim : manifest.dims)
    for (const std::int64_t size : dim.near)
      if (size > 1) tiles.insert(size);
  for (const PlannedLaunch& launch : plan.launches) {
    const std::uint64_t block = launch.block.x * launch.block.y * launch.block.z;
    if (block > 1 && block <= 1024) threads.insert(static_cast<std::int64_t>(block));
  }
  if (tiles.empty()) tiles = {32, 256};
  if (threads.empty()) threads = {256};
  // A warp, or as many lanes as a tile is wide, may share a line too; and a loop unrolled by two or four has
  // as many accumulators.
  threads.insert({2, 4, 32});
  threads.insert(tiles.begin(), tiles.end());
  std::vector<OrderChoice> orders{{Order::pairwise, 1}};
  for (const std::int64_t width : threads) orders.push_back({Order::strided, width});
  for (const std::int64_t width : tiles) orders.push_back({Order::blocked, width});
  orders.push_back({Order::sequential, 1});
  const std::int64_t permutations = manifest.deterministic ? few_permutations : many_permutations;
  for (std::int64_t choice = 2; choice < 2 + permutations; ++choice)
    orders.push_back({Order::sequential, choice});
  return orders;
}

// In the k-th of the orders, which come round.
Instrument in_order(Instrument instrument, const std::vector<OrderChoice>& orders, std::size_t k) {
  instrument.order = orders[k % orders.size()].order;
  instrument.width = orders[k % orders.size()].width;
  return instrument;
}

// The algorithms in turn, each in another order.
std::vector<Instrument> noise_draws(const std::vector<OrderChoice>& orders, int algorithms,
                                    int draws_an_algorithm) {
  std::vector<Instrument> instruments;
  for (int draw = 0; draw < std::max(envelope_noise_draws, draws_an_algorithm * algorithms); ++draw) {
    Instrument noise;
    noise.number = Number::noise;
    noise.algorithm = draw % algorithms;
    noise.seed = static_cast<std::uint64_t>(draw) + 1;
    instruments.push_back(in_order(noise, orders, static_cast<std::size_t>(draw)));
  }
  return instruments;
}

} // namespace

std::vector<Instrument> envelope_instruments(const OpInfo& op, const Manifest& manifest, const Plan& plan,
                                             Approximations approximate) {
  const std::vector<OrderChoice> orders = orders_of(op, manifest, plan);
  const int algorithms = algorithms_of(op, plan);
  const auto with_order = [&](const Instrument& instrument, std::size_t k) {
    return in_order(instrument, orders, k);
  };

  std::vector<Instrument> instruments = noise_draws(orders, algorithms, noise_draws_an_algorithm);
  std::vector<Instrument> functions;
  for (const Functions direction : {Functions::all_up, Functions::all_down}) {
    Instrument all;
    all.functions = direction;
    functions.push_back(all);
  }
  for (int draw = 0; draw < envelope_sign_draws; ++draw) {
    Instrument signs;
    signs.functions = Functions::random_signs;
    signs.seed = static_cast<std::uint64_t>(draw) + 1;
    functions.push_back(signs);
  }
  for (int algorithm = 0; algorithm < algorithms; ++algorithm)
    for (std::size_t k = 0; k < functions.size(); ++k) {
      Instrument instrument = with_order(functions[k], k);
      instrument.algorithm = algorithm;
      instrument.approximate = approximate;
      instruments.push_back(instrument);
    }
  for (int algorithm = 0; algorithm < algorithms; ++algorithm)
    for (const unsigned way :
         {unsigned{products_first}, unsigned{products_last}, unsigned{products_across}, unsigned{reciprocals},
          reciprocals | products_first, reciprocals | products_last, reciprocals | products_across}) {
      Instrument instrument;
      instrument.narrowed = way;
      instrument.narrow = plan.dtype; // rounds nothing
      instrument.algorithm = algorithm;
      instruments.push_back(instrument);
    }
  for (int algorithm = 0; algorithm < algorithms; ++algorithm)
    for (std::size_t k = 0; k < orders.size(); ++k)
      for (const bool contract : {true, false}) {
        Instrument instrument = with_order({}, k);
        instrument.algorithm = algorithm;
        instrument.contract = contract;
        const bool is_reference =
            algorithm == 0 && !contract && instrument.order == Order::sequential && instrument.width == 1;
        if (!is_reference) instruments.push_back(instrument);
      }
  return instruments;
}

std::vector<Instrument> moving_instruments(const OpInfo& op, const Manifest& manifest, const Plan& plan) {
  if (op.elementwise && plan.pass == Pass::forward) return {};
  std::vector<Instrument> instruments =
      noise_draws(orders_of(op, manifest, plan), algorithms_of(op, plan), moving_draws_an_algorithm);
  for (Instrument& instrument : instruments) instrument.moves_exact = true;
  return instruments;
}

Envelope::Envelope(const Op& op, const Trial& trial, std::vector<Instrument> instruments)
    : op_(&op), trial_(&trial), instruments_(std::move(instruments)) {
  const bool elementwise = op.info().elementwise && trial.plan.pass == Pass::forward;
  errors_.resize(trial.tensors.size());
  rounded_.resize(trial.tensors.size());
  distances_.resize(trial.tensors.size());
  for (std::size_t i = 0; i < trial.tensors.size(); ++i) {
    const Evaluated& golden = trial.golden[i];
    errors_[i].resize(golden.value.size());
    if (!elementwise || trial.tensors[i].exact) continue;
    rounded_[i].resize(golden.value.size());
    distances_[i].resize(golden.value.size());
    round_values(trial.tensors[i].dtype, golden.value, golden.value_low, rounded_[i]);
  }
  take(trial.reference);
}

bool Envelope::widen() {
  if (complete()) return false;
  const std::vector<Evaluated> evaluated = evaluate_tested(*op_, *trial_, instruments_[next_]);
  expect_earned_nans(*op_, *trial_, evaluated, instruments_[next_]);
  take(evaluated);
  ++next_;
  return true;
}

void Envelope::take(std::span<const Evaluated> evaluated) {
  for (std::size_t i = 0; i < evaluated.size(); ++i) {
    if (trial_->tensors[i].exact) continue;
    const std::vector<double>& value = evaluated[i].value;
    widen_envelope(comparands_of(*trial_, i), value, errors_[i]);
    if (!distances_[i].empty()) widen_distances(trial_->tensors[i].dtype, rounded_[i], value, distances_[i]);
  }
}

std::vector<std::vector<double>> rigorous_bounds(const Op& op, const Trial& trial,
                                                 Approximations approximate) {
  const auto& names = trial.plan.pass == Pass::forward ? op.info().algorithms : op.info().backward_algorithms;
  Instrument instrument;
  instrument.number = Number::rigorous;
  instrument.approximate = approximate;
  std::vector<std::vector<double>> bounds;
  do {
    std::vector<Evaluated> evaluated = evaluate_tested(op, trial, instrument);
    bounds.resize(evaluated.size());
    for (std::size_t i = 0; i < evaluated.size(); ++i) {
      if (bounds[i].empty()) {
        bounds[i] = std::move(evaluated[i].bound);
        continue;
      }
      for (std::size_t k = 0; k < bounds[i].size(); ++k)
        bounds[i][k] = std::max(bounds[i][k], evaluated[i].bound[k]);
    }
  } while (++instrument.algorithm < std::ssize(names));
  const DType arithmetic = trial.plan.dtype == DType::f64 ? DType::f64 : DType::f32;
  for (std::size_t i = 0; i < bounds.size(); ++i) // what the bound takes past a tie the store rounds on
    if (is_float(trial.tensors[i].dtype) && size_of(trial.tensors[i].dtype) < size_of(arithmetic))
      for (std::size_t k = 0; k < bounds[i].size(); ++k)
        bounds[i][k] +=
            spacing(trial.tensors[i].dtype, std::fabs(trial.golden[i].value[k]) + bounds[i][k]) / 2;
  return bounds;
}

} // namespace assay
