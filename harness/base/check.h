// ASSAY_CHECK(condition, format, ...): our own assumption, checked in every build. Where it does not hold the
// process says so on standard error and exits with 70; it is never the answer to bad input.
#pragma once

#include <fmt/format.h>

#include <string>

namespace assay {
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& message);
}

#define ASSAY_CHECK(condition, ...)                                                                          \
  do {                                                                                                       \
    if (!(condition)) [[unlikely]]                                                                           \
      ::assay::check_failed(__FILE__, __LINE__, #condition, fmt::format(__VA_ARGS__));                       \
  } while (false)
