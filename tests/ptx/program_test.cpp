// Every program of programs/*.cu, compiled by NVRTC for each of its architectures, under three schedules.
#include "harness/device/cpu/cpu_device.h"
#include "tests/ptx/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace assay::ptx_tests {
namespace {

std::vector<std::string> program_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator("tests/ptx/programs"))
    names.push_back(file.path().stem().string());
  std::ranges::sort(names);
  return names;
}

class Programs : public testing::TestWithParam<std::string> {};

TEST_P(Programs, RunAsTheySay) {
  const auto program = read_program("tests/ptx/programs/" + GetParam() + ".cu");
  ASSERT_TRUE(program) << to_string(program.error());
  ASSERT_FALSE(program->expect.empty() && program->fault_kind.empty() && program->unsupported.empty())
      << "a program must say what it does";
  const auto device = make_cpu_device();
  ASSERT_TRUE(device) << to_string(device.error());
  for (const std::string& architecture : program->architectures)
    for (const std::uint64_t seed : {0u, 1u, 2u})
      for (const bool twin : {false, true}) {
        if (twin && !program->has_twin()) continue;
        const auto problem = run_program(*program, architecture, **device, seed, twin);
        EXPECT_EQ(problem ? *problem : to_string(problem.error()), "")
            << architecture << ", seed " << seed << (twin ? ", the right twin" : "");
      }
}

INSTANTIATE_TEST_SUITE_P(Cuda, Programs, testing::ValuesIn(program_names()),
                         [](const auto& info) { return info.param; });

} // namespace
} // namespace assay::ptx_tests
