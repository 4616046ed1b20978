#include "harness/report/text.h"

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

char symbol(double level) {
  if (!std::isfinite(level)) return '!';
  if (level == 0) return ' ';
  return level < 0.25 ? '.' : level <= 1 ? '-' : level < 4 ? '+' : '#';
}

// Cells share `count` elements evenly: cell k begins at k * count / cells.
std::int64_t begin_of(std::int64_t cell, std::int64_t cells, std::int64_t count) {
  return static_cast<std::int64_t>(static_cast<__int128>(cell) * count / cells);
}

// "4..7", or "4" where it is one.
std::string range_text(std::int64_t first, std::int64_t end) {
  return end - first <= 1 ? fmt::format("{}", first) : fmt::format("{}..{}", first, end - 1);
}

} // namespace

std::string heat_strip(std::span<const double> levels, std::span<const std::int64_t> shape, std::size_t width,
                       std::size_t height) {
  if (levels.empty()) return "  (no elements)\n";
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  const std::int64_t lines = std::ssize(levels) / columns;
  const std::int64_t wide = std::min<std::int64_t>(columns, static_cast<std::int64_t>(width));
  const std::int64_t high = std::min<std::int64_t>(lines, static_cast<std::int64_t>(height));

  std::vector<std::string> labels;
  std::size_t margin = 0;
  for (std::int64_t y = 0; y < high; ++y) {
    labels.push_back(range_text(begin_of(y, high, lines), begin_of(y + 1, high, lines)));
    margin = std::max(margin, labels.back().size());
  }
  const auto worse = [](double a, double b) {
    return std::isfinite(a) && (!std::isfinite(b) || b > a) ? b : a;
  };
  std::string text;
  for (std::int64_t y = 0; y < high; ++y) {
    text += fmt::format("  {:>{}} |", labels[static_cast<std::size_t>(y)], margin);
    for (std::int64_t x = 0; x < wide; ++x) {
      double level = 0;
      for (std::int64_t row = begin_of(y, high, lines); row < begin_of(y + 1, high, lines); ++row)
        for (std::int64_t column = begin_of(x, wide, columns); column < begin_of(x + 1, wide, columns);
             ++column)
          level = worse(level, levels[static_cast<std::size_t>(row * columns + column)]);
      text += symbol(level);
    }
    text += "|\n";
  }
  const std::string last = fmt::format("{}", columns - 1);
  text += fmt::format("  {:>{}}  0", "", margin);
  if (columns > 1) {
    const auto used = static_cast<std::size_t>(wide);
    text += used > 1 + last.size() ? std::string(used - 1 - last.size(), ' ') + last : " .. " + last;
  }
  return text + "\n";
}

} // namespace assay
