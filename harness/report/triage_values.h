// The pieces of what triage knows as JSON, both ways: for scripts, and for what is kept from one triage to
// the next.
#pragma once

#include "harness/report/json_values.h"
#include "harness/report/triage.h"

#include <optional>
#include <span>
#include <vector>

namespace assay {

OrderedJson causes_json(std::span<const CauseEvidence> causes);
OrderedJson tensors_json(std::span<const TriageTensor> tensors);
OrderedJson map_json(const ErrorMap& map);
OrderedJson histogram_json(const ErrorHistogram& histogram);
OrderedJson samples_json(std::span<const ErrorSamplePoint> samples);

// A number, or the string that json_number() made of one that is not finite.
double parse_number(const OrderedJson& json);

// Of what the functions above wrote. They throw nlohmann's exceptions on anything else.
std::vector<CauseEvidence> parse_causes(const OrderedJson& json);
std::vector<TriageTensor> parse_tensors(const OrderedJson& json);
ErrorMap parse_map(const OrderedJson& json);
ErrorHistogram parse_histogram(const OrderedJson& json);
std::vector<ErrorSamplePoint> parse_samples(const OrderedJson& json);

} // namespace assay
