// Small pieces of text that several commands print.
#pragma once

#include "harness/report/json.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

std::string counted(std::uint64_t count, std::string_view noun); // "1 finding", "2 findings"
std::string clock_text(double seconds); // "0:07", "59:59", "8:00:00"; negative: "0:00"

// A finding as it comes, several lines without a final newline; `program` begins the command that replays it.
std::string finding_text(const CampaignFinding& found, const std::string& program);

} // namespace assay
