#include "harness/run/failing.h"

#include "harness/inputs/legal.h"
#include "harness/inputs/shapes.h"
#include "harness/run/confirm.h"

#include <algorithm>
#include <set>

namespace assay {

namespace {

constexpr double most_work = 1 << 20; // of a richer case
constexpr double large_stddev = 64;   // logits beyond what exp can take unshifted, none that overflows
constexpr std::int64_t small_share = 64, large_share = 16; // of the budgets, for richer cases

bool is_of_numbers(Kind kind) {
  return kind == Kind::structure || kind == Kind::mismatch || kind == Kind::gate || kind == Kind::ulp ||
         kind == Kind::bias || kind == Kind::unwritten;
}

// Every dim at the legal size nearest to what `size_of` says, as far as the budgets allow.
template <class SizeOf>
std::optional<Case> at_sizes(const Kernel& kernel, Case test_case, std::int64_t share, SizeOf size_of) {
  const CaseSpace& space = kernel.space();
  Dims dims;
  for (const DimRange& range : space.dims)
    dims.emplace_back(range.name, legal_size(range, size_of(range, dim_value(test_case.dims, range.name))));
  if (!fit_budgets(dims, space, share)) return std::nullopt;
  test_case.dims = std::move(dims);
  if (!make_legal(test_case, space)) return std::nullopt;
  return test_case;
}

} // namespace

double work_of(std::span<const std::pair<std::string, std::int64_t>> dims) {
  double work = 1;
  for (const auto& [name, size] : dims) work *= static_cast<double>(std::max<std::int64_t>(size, 1));
  return work;
}

std::optional<FailingTrial> try_failing(Kernel& kernel, const Case& test_case, const std::string& output) {
  auto trial = run_trial(kernel, test_case);
  if (!trial) return std::nullopt;
  for (const Violation& violation : trial->violations) {
    if (violation.signature.output != output || !is_of_numbers(violation.signature.kind) ||
        violation.report >= trial->tensors.size() || trial->target[violation.report].empty())
      continue;
    if (needs_confirmation(kernel.op(), *trial, violation)) {
      const auto confirmed = confirm(kernel, test_case, *trial, {&violation, 1}, JudgeMode::on_this_input);
      if (!confirmed || !confirmed->front().finding) continue;
    }
    const std::size_t at = violation.report;
    return FailingTrial{test_case, *std::move(trial), at};
  }
  return std::nullopt;
}

std::optional<FailingTrial> try_right(Kernel& kernel, const Case& test_case, const std::string& output) {
  auto trial = run_trial(kernel, test_case);
  if (!trial) return std::nullopt;
  for (std::size_t i = 0; i < trial->tensors.size(); ++i) {
    if (trial->tensors[i].name != output || trial->target[i].empty()) continue;
    const bool wrong =
        std::ranges::any_of(trial->violations, [&](const Violation& v) { return v.report == i; });
    if (wrong) return std::nullopt;
    return FailingTrial{test_case, *std::move(trial), i};
  }
  return std::nullopt;
}

Case with_usual_inputs(const Kernel& kernel, Case test_case) {
  std::uint64_t seed = 1;
  for (TensorInput& input : test_case.inputs) {
    const auto spec = std::ranges::find(kernel.space().inputs, input.tensor, &InputSpec::name);
    if (spec == kernel.space().inputs.end()) continue;
    input.distribution = usual_distribution(spec->domain);
    input.seed = seed++;
    input.patches.clear();
    input.overrides.clear();
    input.layout = {};
  }
  return test_case;
}

std::vector<Case> richer_cases(const Kernel& kernel, const Case& test_case) {
  std::vector<Case> cases;
  const auto add = [&](std::optional<Case> candidate) {
    if (candidate && work_of(candidate->dims) <= most_work && *candidate != test_case &&
        std::ranges::find(cases, *candidate) == cases.end())
      cases.push_back(*std::move(candidate));
  };
  const auto production = [](const DimRange& range, std::int64_t size) {
    return std::max(size, range.production.empty() ? std::int64_t{37} : range.production.front() + 1);
  };
  const auto some = [](const DimRange&, std::int64_t size) { return std::max<std::int64_t>(size, 37); };
  const Case usual = with_usual_inputs(kernel, test_case);
  add(at_sizes(kernel, usual, small_share, [](const DimRange&, std::int64_t size) { return size; }));
  Case large = usual;
  for (TensorInput& input : large.inputs)
    if (input.distribution.kind == "normal")
      input.distribution =
          parse_distribution(fmt::format("normal(mean=0, stddev={})", large_stddev), {}).value();
  add(at_sizes(kernel, std::move(large), small_share, some));
  add(at_sizes(kernel, usual, small_share, some));
  add(at_sizes(kernel, usual, large_share, production));
  Case offset = usual;
  for (TensorInput& input : offset.inputs) {
    if (input.distribution.kind != "normal") continue;
    input.distribution = make_distribution(DistributionKind::large_offset);
    break;
  }
  add(at_sizes(kernel, std::move(offset), small_share, some));
  Case same_kinds = test_case;
  for (TensorInput& input : same_kinds.inputs) {
    input.overrides.clear();
    input.layout = {};
  }
  add(at_sizes(kernel, same_kinds, large_share, some));
  return cases;
}

std::optional<Case> resized(const Kernel& kernel, const Case& test_case, const std::string& dim,
                            std::int64_t size) {
  Case other = test_case;
  for (auto& [name, value] : other.dims)
    if (name == dim) value = size;
  if (!make_legal(other, kernel.space()) || dim_value(other.dims, dim) != size ||
      !within_budgets(other.dims, kernel.space()))
    return std::nullopt;
  return other;
}

std::vector<std::int64_t> tile_sizes(const Kernel& kernel, const Plan& plan) {
  std::set<std::int64_t> tiles{2, 4, 8, 16, 32};
  for (const DimRange& dim : kernel.manifest().dims) tiles.insert(dim.near.begin(), dim.near.end());
  for (const PlannedLaunch& launch : plan.launches)
    for (const std::uint64_t size : {launch.block.x, launch.block.y, launch.block.x * launch.block.y})
      if (size <= 1024) tiles.insert(static_cast<std::int64_t>(size));
  tiles.erase(tiles.begin(), tiles.upper_bound(1));
  return {tiles.begin(), tiles.end()};
}

} // namespace assay
