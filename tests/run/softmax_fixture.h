// Softmax kernels on the fake device: right ones, and ones with a known fault.
#pragma once

#include "harness/run/judge.h"
#include "harness/run/kernel.h"
#include "tests/run/fake_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::testing {

inline constexpr const char* softmax_manifest = R"toml(
name = "fake"
op = "softmax"
source = "fake.ptx"
dtypes = ["f32"]
[dims]
rows = { min = 1, max = 64 }
cols = { min = 1, max = 512, near = [8, 32] }
[let]
block = "next_pow2(cols)"
[[launch]]
kernel = "softmax"
grid = ["rows"]
block = ["block"]
args = ["x", "y", "cols"]
)toml";

inline constexpr const char* softmax_ptx =
    ".version 8.0\n.target sm_90\n.visible .entry softmax()\n{\nret;\n}\n";

// x, y as rows of floats, and what is subtracted before the exponential.
inline void softmax_rows(FakeLaunch& launch, const std::function<float(std::span<const float>)>& shift) {
  const auto x = launch.buffer<float>(0);
  const auto y = launch.buffer<float>(1);
  const auto cols = static_cast<std::size_t>(launch.scalar<std::int32_t>(2));
  for (std::size_t row = 0; row * cols < x.size(); ++row) {
    const auto in = x.subspan(row * cols, cols);
    const float offset = shift(in);
    float sum = 0;
    for (const float v : in) sum += std::exp(v - offset);
    for (std::size_t c = 0; c < cols; ++c) y[row * cols + c] = std::exp(in[c] - offset) / sum;
  }
}

inline float maximum(std::span<const float> row) {
  float largest = row[0];
  for (const float v : row) largest = v > largest || std::isnan(v) ? v : largest;
  return largest;
}

inline void right_softmax(FakeLaunch& launch) { softmax_rows(launch, maximum); }
inline void naive_softmax(FakeLaunch& launch) {
  softmax_rows(launch, [](std::span<const float>) { return 0.0f; });
}

struct SoftmaxOnFake {
  FakeDevice device;
  std::unique_ptr<Kernel> kernel;

  explicit SoftmaxOnFake(FakeKernel target, std::string_view manifest_text = softmax_manifest) {
    device.add("softmax", {8, 8, 4}, std::move(target));
    auto manifest = parse_manifest(manifest_text, "kernels/fake/kernel.toml");
    if (!manifest) throw std::runtime_error(to_string(manifest.error()));
    auto loaded = Kernel::bind(*std::move(manifest), *find_op("softmax"), softmax_ptx, device);
    if (!loaded) throw std::runtime_error(to_string(loaded.error()));
    kernel = *std::move(loaded);
  }

  Case make_case(std::int64_t rows, std::int64_t cols,
                 const std::string& distribution = "normal(mean=0, stddev=1)", std::uint64_t seed = 1) const {
    Rng rng(seed);
    Case test_case = draw_case(kernel->space(), rng);
    test_case.pass = Pass::forward;
    test_case.dims = {{"rows", rows}, {"cols", cols}};
    TensorInput x;
    x.tensor = "x";
    x.distribution = parse_distribution(distribution, {}).value();
    x.seed = seed;
    test_case.inputs = {x};
    return test_case;
  }

  Judgement judged(const Case& test_case, JudgeMode mode = JudgeMode::search, int repeats = -1) const {
    auto judgement = judge(*kernel, test_case, {mode, repeats});
    if (!judgement) throw std::runtime_error(to_string(judgement.error()));
    return *std::move(judgement);
  }
};

} // namespace assay::testing
