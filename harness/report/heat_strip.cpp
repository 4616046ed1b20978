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
  struct Strip {
    std::int64_t first, end; // rows
    std::string cells;
  };
  std::vector<Strip> strips; // rows that look alike are one
  for (int y = 0; y < map.cells_down; ++y) {
    std::string cells;
    const auto across = static_cast<std::size_t>(map.cells_across);
    for (std::size_t x = 0; x < across; ++x)
      cells += symbol(map.level[static_cast<std::size_t>(y) * across + x]);
    const std::int64_t end = ErrorMap::begin(y + 1, map.cells_down, map.rows);
    if (!strips.empty() && strips.back().cells == cells)
      strips.back().end = end;
    else
      strips.push_back({ErrorMap::begin(y, map.cells_down, map.rows), end, std::move(cells)});
  }
  std::size_t margin = 0;
  for (const Strip& strip : strips) margin = std::max(margin, range_text(strip.first, strip.end).size());
  std::string text;
  for (const Strip& strip : strips)
    text += fmt::format("  {:>{}} |{}|\n", range_text(strip.first, strip.end), margin, strip.cells);
  const std::string last = fmt::format("{}", map.columns - 1);
  text += fmt::format("  {:>{}}  0", "", margin);
  if (map.columns > 1) {
    const auto used = static_cast<std::size_t>(map.cells_across);
    text += used > 1 + last.size() ? std::string(used - 1 - last.size(), ' ') + last : " .. " + last;
  }
  return text + "\n";
}

} // namespace assay
