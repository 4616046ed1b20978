#include "harness/report/text.h"
#include "harness/report/triage.h"

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

char symbol(double level) {
  if (!std::isfinite(level)) return '!';
  if (level == 0) return ' ';
  return level < 0.25 ? '.' : level <= 1 ? '-' : level < 4 ? '+' : '#';
}

// "4..7", or "4" where it is one.
std::string range_text(std::int64_t first, std::int64_t end) {
  return end - first <= 1 ? fmt::format("{}", first) : fmt::format("{}..{}", first, end - 1);
}

} // namespace

std::string heat_strip(const ErrorMap& map) {
  if (map.level.empty()) return "  (no elements)\n";
  std::vector<std::string> labels;
  std::size_t margin = 0;
  for (int y = 0; y < map.cells_down; ++y) {
    labels.push_back(range_text(ErrorMap::begin(y, map.cells_down, map.rows),
                                ErrorMap::begin(y + 1, map.cells_down, map.rows)));
    margin = std::max(margin, labels.back().size());
  }
  std::string text;
  for (int y = 0; y < map.cells_down; ++y) {
    text += fmt::format("  {:>{}} |", labels[static_cast<std::size_t>(y)], margin);
    for (int x = 0; x < map.cells_across; ++x)
      text += symbol(map.level[static_cast<std::size_t>(y * map.cells_across + x)]);
    text += "|\n";
  }
  const std::string last = fmt::format("{}", map.columns - 1);
  text += fmt::format("  {:>{}}  0", "", margin);
  if (map.columns > 1) {
    const auto used = static_cast<std::size_t>(map.cells_across);
    text += used > 1 + last.size() ? std::string(used - 1 - last.size(), ' ') + last : " .. " + last;
  }
  return text + "\n";
}

} // namespace assay
