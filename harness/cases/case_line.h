// The pieces of one line of a case.
#pragma once

#include "harness/base/error.h"

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace assay::case_line {

std::string_view trimmed(std::string_view text); // without blanks and tabs at its ends

// Up to `separator`, which is taken away; all where there is none.
std::string_view take_until(std::string_view& text, char separator);

template <class Number> bool read_number(std::string_view text, Number& value) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size();
}

// A piece of a message: never longer than a line, nothing unprintable.
std::string shown(std::string_view text);

// The text itself, or what stands between quotes with \" \\ and \xHH undone. `place` is the line's.
Result<std::string> read_text(std::string_view value, const Place& place);

} // namespace assay::case_line
