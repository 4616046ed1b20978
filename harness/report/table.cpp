#include "harness/report/table.h"

#include "harness/base/check.h"

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

constexpr std::size_t narrowest = 12; // a column is never cut below this
constexpr std::size_t gap = 2;        // between columns

std::string fitted(const std::string& text, std::size_t width, Table::Align align) {
  if (text.size() > width) return text.substr(0, width - 2) + "..";
  const std::string padding(width - text.size(), ' ');
  return align == Table::Align::left ? text + padding : padding + text;
}

void trim_end(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

} // namespace

void Table::add(std::vector<std::string> row) {
  ASSAY_CHECK(row.size() == columns_.size(), "a row of {} texts in a table of {} columns", row.size(),
              columns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::text(std::size_t width) const {
  std::vector<std::size_t> widths;
  std::size_t total = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = columns_[i].title.size();
    for (const auto& row : rows_) widest = std::max(widest, row[i].size());
    widths.push_back(widest);
    total += widest + (i > 0 ? gap : 0);
  }
  while (total > width) {
    std::size_t cut = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].align == Align::left && widths[i] > narrowest &&
          (cut == columns_.size() || widths[i] > widths[cut]))
        cut = i;
    if (cut == columns_.size()) break;
    const std::size_t excess = std::min(total - width, widths[cut] - narrowest);
    widths[cut] -= excess;
    total -= excess;
  }

  std::string text;
  const auto line = [&](auto&& cell) {
    std::string out;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out += std::string(gap, ' ');
      out += fitted(cell(i), widths[i], columns_[i].align);
    }
    trim_end(out);
    return out + "\n";
  };
  text += line([&](std::size_t i) { return columns_[i].title; });
  text += line([&](std::size_t i) { return std::string(widths[i], '-'); });
  for (const auto& row : rows_) text += line([&](std::size_t i) { return row[i]; });
  return text;
}

std::string short_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return fmt::format("{:.3g}", value);
}

} // namespace assay
