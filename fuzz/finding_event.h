// How a worker tells its campaign of a finding: one line of JSON, appended to a file after the finding is
// stored.
#pragma once

#include "harness/base/error.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

struct FindingEvent {
  std::string signature;
  std::filesystem::path folder; // holds minimized.case and report.json
  double seconds_to_find = 0;   // from the start of the campaign to the first hit
  std::size_t minimized_elements = 0;
};

Result<void> append_event(const std::filesystem::path& file, const FindingEvent& event);
std::optional<FindingEvent> parse_event(std::string_view line); // without its newline

} // namespace assay
