// What can go wrong, and whose fault it is. Functions that can fail return Result<T>; nothing throws across a
// folder's interface. The four kinds never mix, because each has its own exit code and its own reader.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace assay {

enum class ErrorKind : std::uint8_t {
  user,        // bad usage or bad input: the message says what, where, and what would be right (exit 2)
  environment, // the machine lacks what was asked for: no such device, no NVRTC, an unsupported instruction
               // (exit 4)
  internal,    // our own bug (exit 70)
};

// A place in a text the user can open. line and column count from 1; 0 means "not known".
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  bool operator==(const Place&) const = default;
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message; // one line (see one_line), no trailing full stop, no "error:" prefix
  Place place;
};

template <class T> using Result = std::expected<T, Error>;

// The text with every control character told as an escape (\n, \t, \x07): messages quote what strangers
// wrote, and stay one line all the same.
std::string one_line(std::string text);

// "file:line:column: message", leaving out what is not known.
std::string to_string(const Place& place);
std::string to_string(const Error& error);

// The process exit code for an error of this kind.
int exit_code(ErrorKind kind);

template <class... Args>
std::unexpected<Error> user_error(Place place, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(
      Error{ErrorKind::user, one_line(fmt::format(format, std::forward<Args>(args)...)), std::move(place)});
}

template <class... Args>
std::unexpected<Error> environment_error(Place place, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{ErrorKind::environment,
                               one_line(fmt::format(format, std::forward<Args>(args)...)), std::move(place)});
}

template <class... Args>
std::unexpected<Error> internal_error(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(
      Error{ErrorKind::internal, one_line(fmt::format(format, std::forward<Args>(args)...)), {}});
}

} // namespace assay

// ASSAY_TRY(auto x, f()): x = the value of f(), or return its error from the calling function.
#define ASSAY_CONCAT_(a, b) a##b
#define ASSAY_CONCAT(a, b) ASSAY_CONCAT_(a, b)
#define ASSAY_TRY(declaration, ...) ASSAY_TRY_(ASSAY_CONCAT(assay_try_, __LINE__), declaration, __VA_ARGS__)
#define ASSAY_TRY_(result, declaration, ...)                                                                 \
  auto result = (__VA_ARGS__);                                                                               \
  if (!result) return std::unexpected(std::move(result).error());                                            \
  declaration = *std::move(result)
// ASSAY_TRY_VOID(f()): return the error of f() from the calling function, if there is one.
#define ASSAY_TRY_VOID(...)                                                                                  \
  do {                                                                                                       \
    if (auto assay_result = (__VA_ARGS__); !assay_result)                                                    \
      return std::unexpected(std::move(assay_result).error());                                               \
  } while (false)
