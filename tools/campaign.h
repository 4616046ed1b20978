// A campaign: worker processes that search, kernels that share them, a parent that watches, restarts and
// counts.
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

struct CampaignKernel {
  std::filesystem::path manifest;
  std::string name;                           // the manifest's
  std::string version;                        // changes with the source and the manifest
  std::vector<std::filesystem::path> corpora; // the first is added to, the others only read
  std::vector<std::string> not_tested;        // outputs and gradients that no launch names
  bool checked = false; // its source compiles and fits the manifest; else its first worker finds out
};

struct CampaignOptions {
  std::vector<CampaignKernel> kernels; // at least one, no two of one name
  std::string device = "cpu";
  std::optional<double> seconds;            // of fuzzing, shared by the kernels; nothing: until `runs`
  std::optional<std::uint64_t> runs;        // cases of each kernel, over all its workers
  std::uint64_t seed = 0;                   // where it is taken up, that of the campaign before
  unsigned jobs = 1;                        // workers that run at a time
  std::filesystem::path out;                // findings go to <out>/<kernel>/<signature>/
  std::uint64_t stop_after = 0;             // findings, of each kernel; 0: no limit
  std::vector<std::string> libfuzzer_flags; // added last, so that they win
  std::string program = "assay";            // how the commands that are printed begin
  std::string command;                      // all that was asked for: the same again takes up what was killed
};

// A worker that ended in a way it should not have: a fault of ours, or of the machine.
struct Crash {
  std::string how;
  std::filesystem::path culprit; // the case in work; empty where there was none
};

struct KernelSummary {
  CampaignReport report; // its findings in the order found; its seconds are those in which a worker of it ran
  std::uint64_t hits = 0; // cases that showed a finding, repeats included
  std::uint64_t not_run = 0;
  std::uint64_t blocks_seen = 0, blocks = 0; // basic blocks of the device code
  double worst_ratio = 0;                    // target_error / threshold, over valid gates
  std::vector<Crash> crashes;                // those before a restart included
  Result<void> usable;                       // why it could not be tried at all
};

struct CampaignSummary {
  std::vector<KernelSummary> kernels;
  double seconds = 0; // of fuzzing, those before a restart included
  std::uint64_t seed = 0;
  bool interrupted = false;
  Result<void> outcome; // what ended it before its time
};

// Runs to the end of its time or of each kernel's cases or findings, or to Ctrl-C (SIGINT, SIGTERM). Prints
// each finding as it comes, once it is on disk. What the workers' own libFuzzer says goes to
// <out>/<kernel>/campaign/worker-N.log. A campaign that was killed or interrupted, asked for again, goes on
// from where it was. A kernel among several that cannot be tried is told and left out. An error: it could not
// begin.
Result<CampaignSummary> run_campaign(CampaignOptions options, Console& console);

} // namespace assay
