// What is said of a case does not depend on how many threads of the host say it.
#include "harness/base/parallel.h"
#include "harness/device/cpu/cpu_device.h"
#include "harness/inputs/space.h"
#include "harness/run/judge.h"

#include <gtest/gtest.h>

#include <cstring>

namespace assay {
namespace {

// Bit for bit, as text.
std::string text_of(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}
template <class... Numbers> std::string text_of_all(Numbers... numbers) {
  return text_of({static_cast<double>(numbers)...});
}
template <class T> std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string text_of(const Evaluated& e) {
  return text_of(e.value) + text_of(e.value_low) + text_of(e.bound) + text_of(e.magnitude) +
         text_of(e.alternative) + bytes_of(e.formula_overflows) + bytes_of(e.line_starts);
}

std::string text_of(const TensorReport& report) {
  const auto& [judged, same_special, overflow_edge, formula_overflow, wrong, first_wrong] =
      report.comparison.structure;
  const Gate& g = report.comparison.gate;
  const LineGate& l = g.lines;
  return text_of_all(judged, same_special, overflow_edge, formula_overflow, wrong, first_wrong) +
         text_of_all(g.reference_error, g.rounding_floor, g.target_error, g.absolute_floor, g.golden_bound,
                     g.threshold, g.ratio, g.worst_element, g.worst_reference_element, g.golden_scale,
                     g.reference_relative_error, g.conditioned, g.golden_exact_enough) +
         text_of_all(l.line, l.element, l.target_error, l.magnitude, l.reach, l.floor, l.golden_bound,
                     l.threshold, l.ratio, l.rho, l.lines_over, l.lines_invalid) +
         text_of_all(report.ulp_distance, report.mismatches, report.worst, report.golden, report.reference,
                     report.target);
}

std::vector<std::string> texts_of(const Trial& trial) {
  std::vector<std::string> texts;
  for (const Tensor& input : trial.inputs) texts.push_back(bytes_of(input.bytes));
  for (std::size_t i = 0; i < trial.tensors.size(); ++i) {
    texts.push_back(text_of(trial.golden[i]));
    texts.push_back(text_of(trial.reference[i]));
    texts.push_back(text_of(trial.target[i]));
    texts.push_back(text_of(trial.tensors[i]));
  }
  for (const Violation& violation : trial.violations)
    texts.push_back(to_string(violation.signature) + " " + violation.message +
                    text_of_all(violation.element, violation.ratio, violation.report, violation.line));
  return texts;
}

class Threads : public ::testing::Test {
 protected:
  ~Threads() override { use_threads(1); }

  std::unique_ptr<Kernel> load(const std::string& manifest) {
    KernelOptions options;
    options.element_budget = 1 << 22;
    auto kernel = Kernel::load(manifest, *device_, options);
    if (!kernel) throw std::runtime_error(to_string(kernel.error()));
    return *std::move(kernel);
  }

  static Case draw(const Kernel& kernel, Pass pass, std::vector<std::int64_t> dims, std::uint64_t seed) {
    CaseSpace space = kernel.space();
    for (std::size_t d = 0; d < dims.size(); ++d) {
      space.dims[d].min = space.dims[d].max = dims[d];
      space.dims[d].near.clear();
      space.dims[d].production.clear();
    }
    Rng rng(seed);
    for (;;)
      if (Case drawn = draw_case(space, rng); drawn.pass == pass) return drawn;
  }

  // The texts of the trials of some cases, of which some have violations.
  std::vector<std::string> trials(Kernel& kernel, Pass pass, const std::vector<std::int64_t>& dims) {
    std::vector<std::string> all;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto trial = run_trial(kernel, draw(kernel, pass, dims, seed));
      if (!trial) throw std::runtime_error(to_string(trial.error()));
      for (std::string& text : texts_of(*trial)) all.push_back(std::move(text));
      violations_ += trial->violations.size();
    }
    return all;
  }

  std::unique_ptr<Device> device_ = make_cpu_device().value();
  std::size_t violations_ = 0;
};

TEST_F(Threads, ATrialIsTheSameByOneAndByFour) {
  struct One {
    const char* manifest;
    Pass pass;
    std::vector<std::int64_t> dims;
  };
  const std::vector<One> all = {
      {"kernels/offset_rmsnorm/kernel.toml", Pass::forward, {67, 1500}},
      {"kernels/offset_rmsnorm/kernel.toml", Pass::backward, {67, 1500}},
      {"kernels/softmax/kernel.toml", Pass::forward, {16, 8192}},
      {"kernels/silu/kernel.toml", Pass::forward, {65536}},
      {"kernels/faulty/gelu_erf_truncates/kernel.toml", Pass::forward, {65536}},
      {"kernels/layernorm/kernel.toml", Pass::backward, {130, 777}},
      {"kernels/attention/kernel.toml", Pass::forward, {1, 2, 33, 65, 16}},
      {"kernels/cumsum/kernel.toml", Pass::forward, {63, 1456}},
      {"kernels/argmax/kernel.toml", Pass::forward, {70, 1234}},
  };
  for (const auto& [manifest, pass, dims] : all) {
    const auto kernel = load(manifest);
    use_threads(1);
    const std::vector<std::string> alone = trials(*kernel, pass, dims);
    use_threads(4);
    const std::vector<std::string> together = trials(*kernel, pass, dims);
    ASSERT_EQ(alone.size(), together.size()) << manifest;
    for (std::size_t i = 0; i < alone.size(); ++i)
      EXPECT_TRUE(alone[i] == together[i]) << manifest << " " << name_of(pass) << ", number " << i;
  }
  EXPECT_GT(violations_, 0);
}

// Confirmation, whose instruments draw in turn, included.
TEST_F(Threads, SoIsAJudgement) {
  const auto kernel = load("kernels/faulty/gelu_erf_truncates/kernel.toml");
  std::vector<std::string> said;
  for (const int threads : {1, 4}) {
    use_threads(threads);
    std::string& text = said.emplace_back();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto judged = judge(*kernel, draw(*kernel, Pass::forward, {40000}, seed));
      ASSERT_TRUE(judged) << to_string(judged.error());
      for (const Finding& finding : judged->findings)
        text += finding.message + " " + finding.confirmation +
                text_of_all(finding.ratio, finding.severity, finding.threshold, finding.rigorous_bound);
      for (const LuckyReference& lucky : judged->lucky) text += lucky.why + text_of_all(lucky.severity);
    }
  }
  EXPECT_FALSE(said[0].empty());
  EXPECT_TRUE(said[0] == said[1]);
}

} // namespace
} // namespace assay
