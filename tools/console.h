// What the user sees while a command works: results on standard output as they come, progress on standard
// error, as lines that are rewritten in place on a terminal and as a line now and then elsewhere.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

namespace assay {

class Console {
 public:
  explicit Console(std::chrono::milliseconds plain_period = std::chrono::seconds(10));
  ~Console() { clear(); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // Whether progress() would show anything now; computing it may be skipped otherwise.
  bool progress_due() const;
  // `screen` on a terminal, as much of it as fits (the first line and the last always do); `line` elsewhere.
  void progress(std::span<const std::string> screen, std::string_view line);
  void progress(const std::string& line) { progress({&line, 1}, line); }
  void note(std::string_view line);   // standard error, stays
  void result(std::string_view text); // standard output, flushed; ends in a newline of its own
  void clear();                       // takes the live lines off the terminal

 private:
  std::string erased() const;

  std::chrono::milliseconds period_;
  std::chrono::steady_clock::time_point next_;
  bool terminal_;
  std::size_t live_ = 0; // lines on the terminal; the cursor is at the end of the last
};

} // namespace assay
