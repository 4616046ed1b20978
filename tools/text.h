// Small pieces of text that several commands print.
#pragma once

#include "harness/report/json.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

std::string counted(std::uint64_t count, std::string_view noun); // "1 finding", "2 findings"
std::string clock_text(double seconds); // "0:07", "59:59", "8:00:00"; negative: "0:00"

// How the user calls this program from where he is: "tools/assay" at the top of a checkout, else "assay".
std::string command_name();

// A finding as it comes, several lines without a final newline.
std::string finding_text(const CampaignFinding& found);

} // namespace assay
