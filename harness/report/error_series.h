// The series that pictures of a fault are drawn from, taken from one failing trial.
#pragma once

#include "harness/report/triage.h"
#include "harness/run/judge.h"

#include <span>
#include <string>
#include <vector>

namespace assay {

// error / threshold of every element of trial.tensors[i]: infinity where NaN or an infinity is out of place;
// level_without_threshold where the threshold is 0 and the element is off; 0 where it is right or where the
// formula itself overflows.
inline constexpr double level_without_threshold = 1e300;
std::vector<double> error_levels(const Trial& trial, std::size_t i);

// levels: one an element of a tensor of that shape. A scalar is one row of one.
ErrorMap error_map(const std::string& tensor, std::span<const double> levels, std::vector<std::int64_t> shape,
                   int most_across = 64, int most_down = 16);
ErrorMap error_map(const Trial& trial, std::size_t i, int most_across = 64, int most_down = 16);
ErrorHistogram error_histogram(const Trial& trial, std::size_t i);
// failed: whether the case shows the fault.
ErrorSamplePoint sample_point(const Case& test_case, const Trial& trial, std::size_t i, bool failed);

// The outputs of a case with the verdict of each.
std::vector<TriageTensor> triage_tensors(const Judgement& judgement);

} // namespace assay
