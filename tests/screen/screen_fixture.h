// A kernel with a screen on the CPU device.
#pragma once

#include "harness/run/judge.h"
#include "harness/screen/agreement.h"
#include "harness/screen/recheck.h"
#include "harness/screen/screen.h"
#include "tests/screen/cpu_batch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace assay::testing {

template <class T> T value_of(Result<T> result) {
  EXPECT_TRUE(result.has_value()) << (result ? "" : to_string(result.error()));
  return *std::move(result);
}

struct ScreenedKernel {
  explicit ScreenedKernel(const std::string& manifest, std::uint32_t wave_cases = 8)
      : kernel(value_of(Kernel::load(manifest, device))) {
    ScreenOptions options;
    options.wave_cases = wave_cases;
    screen = Screen::create(*kernel, options);
  }

  // Of one type and pass, every dim as given or small.
  CaseSpace space(DType dtype, Pass pass, const std::map<std::string, std::int64_t>& dims) const {
    CaseSpace space = kernel->space();
    space.dtypes = {dtype};
    for (DimRange& dim : space.dims) {
      if (const auto size = dims.find(dim.name); size != dims.end()) dim.min = dim.max = size->second;
      dim.near.clear();
      dim.production.clear();
    }
    space.has_backward = pass == Pass::backward;
    return space;
  }

  // A case with plain values.
  Case plain(const CaseSpace& space, Pass pass) const {
    Case test_case;
    test_case.dtype = space.dtypes.front();
    test_case.pass = pass;
    return value_of(repair(std::move(test_case), space));
  }

  Burst burst(const Case& parent, const CaseSpace& space, std::uint64_t count, std::uint64_t seed = 1) {
    return value_of(screen->burst(parent, space, {.seed = seed, .seconds = 1000, .most = count}));
  }

  CpuBatch device;
  std::unique_ptr<Kernel> kernel;
  std::unique_ptr<Screen> screen;
};

// All of a burst's cases that it still knows.
inline std::vector<ScreenedCase> all_of(const Burst& burst) {
  std::vector<ScreenedCase> all = burst.sample();
  for (const Burst::Flagged* alike : burst.by_weight())
    all.insert(all.end(), alike->kept.begin(), alike->kept.end());
  return all;
}

} // namespace assay::testing
