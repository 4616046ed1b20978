// How a worker tells its campaign of a finding: a line of JSON, appended to a file once the finding is
// stored, and another once it is minimized.
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
  bool minimized = true; // false: so far the folder holds original.case in place of minimized.case
};

// The whole line or nothing of it.
Result<void> append_event(const std::filesystem::path& file, const FindingEvent& event);
std::optional<FindingEvent> parse_event(std::string_view line); // without its newline

} // namespace assay
