// assay-protocols KERNEL.toml: what checks that others use would say of a kernel, as one line of JSON.
//
//   normal_draws   as KernelBench does: the first type, forward, one production shape, five draws of N(0, 1),
//                  |t - r| <= 1e-2 + 1e-2 |r| against the plain formula in the kernel's own types
//   torch_testing  torch.testing.assert_close's default tolerances against the same, every type, forward and
//                  gradients, each dim at the edges of its tiles beside small others, N(0, 1)
//   plain_gate     the gate of method section 3 on the same cases, and no confirmation
//
// True: the kernel is called wrong. The numbers are the CPU device's; of its checkers only what a GPU reports
// too (a refused launch, a trap, a misaligned access, a launch that never ends) counts, and an element that
// nobody wrote counts as wrong.
#include "fuzz/open_device.h"
#include "harness/inputs/legal.h"
#include "harness/inputs/shapes.h"
#include "harness/run/kernel.h"
#include "harness/run/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace assay;

struct Closeness {
  double relative, absolute;
};

// torch.testing.assert_close's table of defaults.
Closeness torch_default(DType type) {
  switch (type) {
  case DType::f64:
    return {1e-7, 1e-7};
  case DType::f32:
    return {1.3e-6, 1e-5};
  case DType::f16:
    return {1e-3, 1e-5};
  case DType::bf16:
    return {1.6e-2, 1e-5};
  case DType::f8e4m3:
    return {0.25, 0.25};
  default:
    return {0, 0};
  }
}

// As assert_close and allclose: NaN is close to nothing.
bool close(const Trial& trial, std::size_t i, Closeness tolerance) {
  const std::vector<double>&target = trial.target[i], &reference = trial.reference[i].value;
  for (std::size_t k = 0; k < target.size(); ++k)
    if (target[k] != reference[k] && !(std::fabs(target[k] - reference[k]) <=
                                       tolerance.absolute + tolerance.relative * std::fabs(reference[k])))
      return false;
  return target.size() == reference.size();
}

// What shows without looking at numbers; nullopt: the numbers decide.
std::optional<bool> seen_anyway(const Trial& trial) {
  for (const Violation& violation : trial.violations) switch (violation.signature.kind) {
    case Kind::launch:
    case Kind::trap:
    case Kind::misaligned:
    case Kind::timeout:
    case Kind::unwritten:
      return true;
    default:
      break;
    }
  return trial.tensors.empty() ? std::optional(false) : std::nullopt;
}

bool all_close(const Trial& trial, auto tolerance) {
  for (std::size_t i = 0; i < trial.tensors.size(); ++i)
    if (!close(trial, i, tolerance(trial.tensors[i].dtype))) return false;
  return true;
}

bool passes_plain_gate(const Trial& trial) {
  return std::ranges::none_of(trial.violations, [](const Violation& violation) {
    const Kind kind = violation.signature.kind;
    return kind == Kind::gate || kind == Kind::structure || kind == Kind::mismatch;
  });
}

Result<Case> plain_case(const CaseSpace& space, DType dtype, Pass pass, const Dims& dims,
                        std::uint64_t seed) {
  Case result;
  result.dtype = dtype;
  result.pass = pass;
  result.dims = dims;
  for (const ParamSpec& spec : space.params) result.params.emplace_back(spec.name, spec.values.front());
  for (const InputSpec& spec : space.inputs)
    if (takes_part(spec, pass))
      result.inputs.push_back({spec.name, spec.dtype, usual_distribution(spec.domain), ++seed, {}, {}, {}});
  return repair(std::move(result), space);
}

Dims dims_by(const CaseSpace& space, auto size) {
  Dims dims;
  for (const DimRange& range : space.dims) dims.emplace_back(range.name, legal_size(range, size(range)));
  return dims;
}

struct Verdicts {
  bool normal_draws = false, torch_testing = false, plain_gate = false;
};

Result<void> draw_normally(Kernel& kernel, Verdicts& verdicts) {
  const CaseSpace& space = kernel.space();
  const Dims dims = dims_by(space, [](const DimRange& range) {
    return range.production.empty() ? std::max<std::int64_t>(range.min, 64) : range.production.front();
  });
  for (std::uint64_t draw = 0; draw < 5; ++draw) {
    ASSAY_TRY(const Case drawn, plain_case(space, space.dtypes.front(), Pass::forward, dims, 100 * draw));
    ASSAY_TRY(const Trial trial, run_trial(kernel, drawn));
    const auto anyway = seen_anyway(trial);
    const bool wrong = anyway ? *anyway : !all_close(trial, [](DType type) {
      return is_float(type) ? Closeness{1e-2, 1e-2} : Closeness{};
    });
    verdicts.normal_draws = verdicts.normal_draws || wrong;
  }
  return {};
}

Result<void> try_tile_edges(Kernel& kernel, Verdicts& verdicts) {
  const CaseSpace& space = kernel.space();
  const Dims small = dims_by(space, [](const DimRange& range) { return 3 * range.multiple_of; });
  std::uint64_t seed = 0;
  for (std::size_t d = 0; d < space.dims.size(); ++d)
    for (const std::int64_t size : corner_sizes(space.dims[d]))
      for (const DType dtype : space.dtypes)
        for (const Pass pass : {Pass::forward, Pass::backward}) {
          if (pass == Pass::backward && !space.has_backward) continue;
          Dims dims = small;
          dims[d].second = size;
          ASSAY_TRY(const Case drawn, plain_case(space, dtype, pass, dims, seed += 100));
          ASSAY_TRY(const Trial trial, run_trial(kernel, drawn));
          const auto anyway = seen_anyway(trial);
          verdicts.torch_testing =
              verdicts.torch_testing || (anyway ? *anyway : !all_close(trial, torch_default));
          verdicts.plain_gate = verdicts.plain_gate || (anyway ? *anyway : !passes_plain_gate(trial));
        }
  return {};
}

Result<Verdicts> judge_by_others(const char* manifest) {
  ASSAY_TRY(const auto device, open_device("cpu"));
  ASSAY_TRY(const auto kernel, Kernel::load(manifest, *device));
  Verdicts verdicts;
  ASSAY_TRY_VOID(draw_normally(*kernel, verdicts));
  ASSAY_TRY_VOID(try_tile_edges(*kernel, verdicts));
  return verdicts;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: assay-protocols KERNEL.toml\n");
    return 2;
  }
  const auto verdicts = judge_by_others(argv[1]);
  if (!verdicts) {
    fmt::print(stderr, "{}\n", to_string(verdicts.error()));
    return exit_code(verdicts.error().kind);
  }
  fmt::print("{{\"normal_draws\": {}, \"torch_testing\": {}, \"plain_gate\": {}}}\n", verdicts->normal_draws,
             verdicts->torch_testing, verdicts->plain_gate);
  return 0;
}
