// The JSON that scripts and CI read (its fields are fixed). Numbers that are not finite are strings.
#pragma once

#include "harness/run/finding.h"
#include "harness/run/judge.h"
#include "harness/run/replay.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct CampaignFinding {
  Finding finding;            // of the minimized case
  double seconds_to_find = 0; // from the start of the campaign to the first hit
  std::filesystem::path case_file;
  std::size_t minimized_elements = 0; // off the base value
  std::uint64_t hits = 1;
};

struct CampaignReport {
  std::string kernel, device;
  double seconds = 0;
  std::uint64_t cases = 0;
  std::uint64_t suspects_not_confirmed = 0; // lucky references
  std::uint64_t inconclusive = 0;           // cases with a gate that is not valid, and nothing else wrong
  std::vector<CampaignFinding> findings;
  std::vector<std::string> not_tested; // outputs and gradients that no launch names
  // Where the device has a screen: cases that were plainly clean there, and those tried there that were not,
  // and that nobody judged. They are no cases.
  std::uint64_t screened = 0, unjudged = 0;
};

// One object, or a list where there are several kernels. Indented by two, with a final newline.
std::string campaign_json(std::span<const CampaignReport> reports);
std::string replay_json(std::span<const ReplayOutcome> outcomes);

// report.json beside a stored finding: everything that the Finding says, and the case's text.
std::string finding_json(const Finding& finding);

// Reads report.json back as far as a campaign's summary needs it (another process wrote it). The case is
// parsed from its text. Malformed: a user error at the file.
Result<Finding> parse_finding(const std::string& text, const std::filesystem::path& file);

} // namespace assay
