// The recorded rows on the CPU device, and on a GPU where there is one.
#include "harness/device/cpu/cpu_device.h"
#include "harness/device/cuda/cuda_device.h"
#include "tests/conformance/difference.h"
#include "tests/conformance/run_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace assay::conformance {
namespace {

// Compares results with the recorded bits; the largest differences of approximate instructions go to standard
// output.
void compare(const RowFile& file, const std::vector<std::vector<Column>>& results) {
  ASSERT_EQ(results.size(), file.rows.size());
  std::map<std::string, Difference> largest;
  for (std::size_t r = 0; r < file.rows.size(); ++r) {
    const Row& row = file.rows[r];
    ASSERT_EQ(row.bits.size(), row.out.size()) << "no bits were recorded for " << row.ptx;
    const auto bound = bound_of(row.ptx);
    std::size_t wrong = 0, first = 0, output = 0;
    for (std::size_t o = 0; o < row.out.size(); ++o)
      for (std::size_t t = 0; t < row.inputs->threads(); ++t) {
        const std::uint64_t got = results[r][o][t], wanted = row.bits[o][t];
        bool holds = got == wanted;
        if (!holds && bound) {
          const Difference d =
              difference(format_of(row.ptx, row.out[o]), got, wanted, row.inputs->columns[0][t], *bound);
          holds = d.allowed;
          Difference& worst = largest[row.ptx.substr(0, row.ptx.find(' '))];
          if (holds && d.bounded)
            worst = {std::max(worst.ulps, d.ulps), std::max(worst.absolute, d.absolute),
                     std::max(worst.relative, d.relative)};
        }
        if (!holds && wrong++ == 0) first = t, output = o;
      }
    if (wrong == 0) continue;
    std::string operands;
    for (const Column& column : row.inputs->columns) operands += fmt::format(" {:x}", column[first]);
    ADD_FAILURE() << fmt::format(
        "{}\n  {} of {} threads differ; thread {}, operands{}, output {}: {:x}, the GPU gave {:x}", row.ptx,
        wrong, row.inputs->threads(), first, operands, output, results[r][output][first],
        row.bits[output][first]);
  }
  for (const auto& [name, d] : largest)
    fmt::print("largest difference of {:24} {:10.3g} ulp  {:10.3g} absolute  {:10.3g} relative\n", name,
               d.ulps, d.absolute, d.relative);
}

class Rows : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto read = read_row_file("tests/conformance/rows/" + GetParam() + ".json");
    ASSERT_TRUE(read) << to_string(read.error());
    file = *std::move(read);
    ASSERT_FALSE(file.rows.empty());
  }
  RowFile file;
};

TEST_P(Rows, HoldOnTheCpuDevice) {
  const auto device = make_cpu_device();
  ASSERT_TRUE(device) << to_string(device.error());
  const auto results = run_on_device(**device, file.rows);
  ASSERT_TRUE(results) << to_string(results.error());
  compare(file, *results);
}

TEST_P(Rows, HoldOnTheCudaDevice) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto device = make_cuda_device(0);
  ASSERT_TRUE(device) << to_string(device.error());
  const auto results = run_on_device(**device, file.rows);
  ASSERT_TRUE(results) << to_string(results.error());
  compare(file, *results);
}

TEST_P(Rows, HoldOnTheGpu) {
  const auto gpu = Gpu::open();
  if (!gpu) GTEST_SKIP() << gpu.error().message;
  const auto results = run_on_gpu(**gpu, file.rows);
  ASSERT_TRUE(results) << to_string(results.error());
  compare(file, *results);
}

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator("tests/conformance/rows"))
    names.push_back(file.path().stem().string());
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Families, Rows, ::testing::ValuesIn(families()),
                         [](const auto& info) { return info.param; });

} // namespace
} // namespace assay::conformance
