#include "harness/base/files.h"
#include "harness/run/describe.h"
#include "harness/run/suspect_tests.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

namespace assay {

namespace {

// Intrinsics of CUDA that trade accuracy for speed, and the functions that do not (CUDA C++ Programming
// Guide, "Mathematical Functions").
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> exact_functions{
    {{"__expf", "expf"},
     {"__exp10f", "exp10f"},
     {"__logf", "logf"},
     {"__log2f", "log2f"},
     {"__log10f", "log10f"},
     {"__sinf", "sinf"},
     {"__cosf", "cosf"},
     {"__tanf", "tanf"},
     {"__powf", "powf"},
     {"__tanhf", "tanhf"},
     {"__fdividef", "__fdiv_rn"}}};

bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The source with exact functions in place of intrinsics; `replaced` names those that it used.
std::string without_intrinsics(std::string_view source, std::vector<std::string>& replaced) {
  std::string text;
  for (std::size_t at = 0; at < source.size();) {
    if (!is_name_part(source[at])) {
      text += source[at++];
      continue;
    }
    std::size_t end = at;
    while (end < source.size() && is_name_part(source[end])) ++end;
    const std::string_view word = source.substr(at, end - at);
    const auto known = std::ranges::find(exact_functions, word, [](const auto& pair) { return pair.first; });
    if (known != exact_functions.end()) {
      text += known->second;
      if (std::ranges::find(replaced, word) == replaced.end()) replaced.emplace_back(word);
    } else {
      text += word;
    }
    at = end;
  }
  return text;
}

bool is_fast_option(const std::string& option) {
  return option.ends_with("use_fast_math") || option.find("ftz=true") != std::string::npos ||
         option.find("prec-div=false") != std::string::npos ||
         option.find("prec-sqrt=false") != std::string::npos;
}

// The same kernel compiled without what makes functions inexact.
Evidences without_fast_functions(const Scene& scene) {
  Manifest manifest = scene.kernel.manifest();
  std::vector<std::string> changes;
  for (const std::string& option : manifest.options)
    if (is_fast_option(option)) changes.push_back(option);
  std::erase_if(manifest.options, is_fast_option);
  const auto source = read_file(manifest.source);
  if (!source) return {};
  std::vector<std::string> replaced;
  std::string text = without_intrinsics(*source, replaced);
  changes.insert(changes.end(), replaced.begin(), replaced.end());
  if (changes.empty()) return {};
  auto exact = Kernel::bind(std::move(manifest), scene.kernel.op(), std::move(text), scene.kernel.device());
  if (!exact) return {};
  for (const FailingTrial& failing : scene.trials)
    if (try_failing(**exact, failing.test_case, scene.finding.signature.output))
      return {{Cause::approximate_function, 0.05,
               fmt::format("compiled without {} it fails all the same", fmt::join(changes, ", "))}};
  return {{Cause::approximate_function, 1,
           fmt::format("compiled without {} it is right wherever it failed ({} inputs)",
                       fmt::join(changes, ", "), scene.trials.size())}};
}

// eps as small as may be: what its place in the formula does is then gone.
Evidences without_eps(const Scene& scene) {
  const OpInfo& info = scene.kernel.op().info();
  const auto eps = std::ranges::find(info.params, "eps", &ParamInfo::name);
  if (eps == info.params.end()) return {};
  constexpr double least = 0x1p-120; // no float of an ordinary row feels it
  Manifest manifest = scene.kernel.manifest();
  const auto declared = std::ranges::find(manifest.params, "eps", &ParamText::name);
  if (declared != manifest.params.end())
    declared->values = {least};
  else
    manifest.params.push_back({"eps", {least}, {}});
  const auto source = read_file(manifest.source);
  if (!source) return {};
  auto changed = Kernel::bind(std::move(manifest), scene.kernel.op(), *source, scene.kernel.device());
  if (!changed) return {};
  // Inputs about as large as eps is felt, and the failing ones.
  std::vector<Case> cases;
  for (const FailingTrial& failing : scene.trials) cases.push_back(failing.test_case);
  for (const double stddev : {1e-3, 1e-6}) {
    Case felt = with_usual_inputs(scene.kernel, scene.trials.front().test_case);
    const std::array normal{0.0, stddev};
    felt.inputs.front().distribution = make_distribution(DistributionKind::normal, normal);
    if (try_failing(scene.kernel, felt, scene.finding.signature.output)) cases.push_back(std::move(felt));
  }
  int right = 0, wrong = 0;
  for (const Case& one : cases) {
    Case with_least = one;
    for (auto& [name, value] : with_least.params)
      if (name == "eps") value = least;
    const auto trial = run_trial(**changed, with_least);
    if (!trial || trial->tensors.empty()) continue;
    const auto judged = std::ranges::any_of(trial->tensors, [&](const TensorReport& report) {
      return report.name == scene.finding.signature.output && report.comparison.structure.judged > 0;
    });
    if (!judged) continue;
    ++(try_failing(**changed, with_least, scene.finding.signature.output) ? wrong : right);
  }
  if (right == 0) return {};
  if (wrong == 0)
    return {
        {Cause::numerical_stability, 0.85,
         fmt::format("with eps = {} in place of its own it is right on {} of {} inputs that fail: eps is not "
                     "where it belongs",
                     value_text(least), right, right)}};
  return {{Cause::numerical_stability, 0.05,
           fmt::format("with eps = {} it fails all the same", value_text(least))}};
}

struct Extent {
  double largest = 0,
         smallest = std::numeric_limits<double>::infinity(); // magnitudes of finite elements, not 0
  bool finite = true;
};

Extent extent_of(const Trial& trial) {
  Extent extent;
  for (const Tensor& input : trial.inputs) {
    if (input.bytes.empty() || !is_float(input.dtype)) continue;
    for (const double x : widen(input)) {
      if (!std::isfinite(x)) extent.finite = false;
      if (!std::isfinite(x) || x == 0) continue;
      extent.largest = std::max(extent.largest, std::fabs(x));
      extent.smallest = std::min(extent.smallest, std::fabs(x));
    }
  }
  return extent;
}

// The same sizes with inputs of N(0, 1).
Evidences with_harmless_inputs(const Scene& scene) {
  if (scene.trials.empty() || scene.trials.front().report().exact) return {};
  const FailingTrial& own = scene.trials.front();
  const Extent extent = extent_of(own.trial);
  if (!extent.finite) return {{Cause::numerical_stability, 0, "the inputs hold NaN or infinities"}};
  const bool large = extent.largest > 16, tiny = extent.largest < 0x1p-6 && extent.largest > 0x1p-100;
  if (!large && !tiny) return {};
  for (std::uint64_t k = 0; k < 4; ++k) {
    Case harmless = with_usual_inputs(scene.kernel, own.test_case);
    for (TensorInput& input : harmless.inputs) input.seed += 100 * k;
    if (try_failing(scene.kernel, harmless, scene.finding.signature.output))
      return {{Cause::numerical_stability, 0.1, "inputs of N(0, 1) fail at the same sizes too"}};
  }
  return {{Cause::numerical_stability, 0.6,
           fmt::format("right at the same sizes with inputs of N(0, 1); it takes magnitudes {} {}",
                       large ? "as large as" : "no larger than", value_text(extent.largest))}};
}

} // namespace

Evidences suspect_variants(const Scene& scene) {
  Evidences found;
  if (scene.trials.empty()) return found;
  for (Evidences (*test)(const Scene&) : {without_fast_functions, without_eps, with_harmless_inputs})
    for (CauseEvidence& evidence : test(scene)) found.push_back(std::move(evidence));
  return found;
}

} // namespace assay
