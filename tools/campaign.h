// One kernel's campaign: worker processes that search, a parent that watches, restarts and counts.
#pragma once

#include "harness/base/error.h"
#include "harness/report/json.h"
#include "tools/console.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct CampaignOptions {
  std::filesystem::path manifest;
  std::string kernel; // the manifest's name
  std::string device = "cpu";
  std::optional<double> seconds;     // of fuzzing; nothing: until `runs`
  std::optional<std::uint64_t> runs; // cases, over all workers
  std::uint64_t seed = 0;
  unsigned jobs = 1;
  std::vector<std::filesystem::path> corpora; // the first is added to, the others only read
  std::filesystem::path out;                  // findings go to <out>/<kernel>/<signature>/
  std::uint64_t stop_after = 0;               // findings; 0: no limit
  std::vector<std::string> libfuzzer_flags;   // added last, so that they win
};

// A worker that ended in a way it should not have: a fault of ours, or of the machine.
struct Crash {
  std::string how;
  std::filesystem::path culprit; // the case in work; empty where there was none
};

struct CampaignSummary {
  CampaignReport report;  // its findings in the order found
  std::uint64_t hits = 0; // cases that showed a finding, repeats included
  std::uint64_t not_run = 0;
  std::uint64_t blocks_seen = 0, blocks = 0; // basic blocks of the device code
  std::vector<Crash> crashes;
  bool interrupted = false;
};

// Runs to the end of its time or its cases, to stop_after findings, or to Ctrl-C (SIGINT, SIGTERM). Prints
// each finding as it comes. What the workers' own libFuzzer says goes to
// <out>/<kernel>/campaign/worker-N.log.
Result<CampaignSummary> run_campaign(const CampaignOptions& options, Console& console);

} // namespace assay
