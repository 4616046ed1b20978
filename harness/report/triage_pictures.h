// The pictures of a fault, as <svg> elements.
#pragma once

#include "harness/report/triage.h"

#include <span>
#include <string>
#include <string_view>

namespace assay {

// The style class of a level (error / threshold): "l0" right, "l1" below a quarter, "l2" up to 1, "l3" below
// 4, "l4" more, "l5" not finite or in the wrong place.
std::string_view level_class(double level);

// A cell's colour is its level; neighbours in a row of one class are drawn as one.
std::string draw_heat_map(const ErrorMap& map);

// Elements in each decade of error, the target's bars beside the reference's.
std::string draw_histogram(const ErrorHistogram& histogram);

// error / threshold of each case over its size: the product of its dims. Both axes are logarithmic.
std::string draw_error_by_shape(std::span<const ErrorSamplePoint> samples);

// error / threshold of each case, a row a distribution.
std::string draw_error_by_distribution(std::span<const ErrorSamplePoint> samples);

} // namespace assay
