#include "harness/base/error.h"

namespace assay {

std::string to_string(const Place& place) {
  std::string text = place.file;
  if (place.line > 0) text += fmt::format("{}{}", text.empty() ? "line " : ":", place.line);
  if (place.line > 0 && place.column > 0) text += fmt::format(":{}", place.column);
  return text;
}

std::string to_string(const Error& error) {
  const std::string where = to_string(error.place);
  return where.empty() ? error.message : where + ": " + error.message;
}

int exit_code(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::user:
    return 2;
  case ErrorKind::environment:
    return 4;
  case ErrorKind::internal:
    return 70;
  }
  return 70;
}

} // namespace assay
