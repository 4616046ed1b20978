// What a campaign looks like while it runs.
#pragma once

#include "tools/campaign.h"

#include <span>
#include <string>
#include <vector>

namespace assay {

struct ScreenRow {
  const KernelSummary* kernel = nullptr;
  bool running = false, done = false;
  double since_news = -1; // wall seconds; negative: nothing new yet
};

// For a terminal: a title line, a line a kernel, a line of totals, at most 100 columns each. The last line is
// the totals; where there is no room for all, the console leaves out kernels from the end of the others.
std::vector<std::string> campaign_screen(std::span<const ScreenRow> rows, double elapsed,
                                         std::optional<double> seconds, std::optional<std::uint64_t> runs);

// For a log: all of it in one line.
std::string campaign_line(std::span<const ScreenRow> rows, double elapsed, std::optional<double> seconds,
                          std::optional<std::uint64_t> runs);

} // namespace assay
