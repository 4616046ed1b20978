// How bad input is answered: one line on standard error, nothing on standard output, the exit code.
#pragma once

#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace assay::testing {

inline void expect_one_line(const ProgramRun& run, const std::vector<std::string>& parts) {
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  EXPECT_THAT(run.err, ::testing::StartsWith("assay: "));
  for (const std::string& part : parts) EXPECT_THAT(run.err, ::testing::HasSubstr(part));
  EXPECT_THAT(run.out, ::testing::IsEmpty());
}

inline void expect_refused(const ProgramRun& run, const std::vector<std::string>& parts) {
  EXPECT_EQ(run.exit, 2) << run.out << run.err;
  expect_one_line(run, parts);
}

} // namespace assay::testing
