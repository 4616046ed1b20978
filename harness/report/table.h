// Tables of plain text that fit a terminal of 100 columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

class Table {
 public:
  enum class Align : unsigned char { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> row); // one text a column
  bool empty() const { return rows_.empty(); }

  // With a title line and a rule. Where the table is wider than `width`, its widest left-aligned column is
  // cut, and the cut shown by "..".
  std::string text(std::size_t width = 100) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// A number for people: three significant digits, "1.23e-07", "0", "inf", "nan".
std::string short_number(double value);

} // namespace assay
