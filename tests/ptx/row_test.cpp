// Runs every row of rows/*.json on the CPU device.
#include "harness/device/cpu/cpu_device.h"
#include "tests/ptx/row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace assay::ptx_tests {
namespace {

std::vector<std::string> row_files() {
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator("tests/ptx/rows"))
    files.push_back(file.path().string());
  std::ranges::sort(files);
  return files;
}

TEST(Rows, HoldOnTheCpuDevice) {
  auto device = make_cpu_device();
  ASSERT_TRUE(device) << to_string(device.error());
  std::size_t count = 0;
  for (const std::string& file : row_files()) {
    const auto rows = read_rows(file);
    ASSERT_TRUE(rows) << to_string(rows.error());
    for (const Row& row : *rows) {
      const auto problem = run_row(row, **device);
      ++count;
      if (!problem)
        ADD_FAILURE() << file << ": " << row.name << ": " << to_string(problem.error());
      else
        EXPECT_EQ(*problem, "") << file << ": " << row.name;
    }
  }
  EXPECT_GT(count, 0u) << "no rows were found";
}

} // namespace
} // namespace assay::ptx_tests
