// What the user sees while a campaign runs: results on standard output as they come, progress on standard
// error, as one line that is rewritten in place on a terminal and as a line now and then elsewhere.
#pragma once

#include <chrono>
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
  void progress(std::string_view line);
  void note(std::string_view line);   // standard error, stays
  void result(std::string_view text); // standard output, flushed; ends in a newline of its own
  void clear();                       // takes the live line off the terminal

 private:
  std::chrono::milliseconds period_;
  std::chrono::steady_clock::time_point next_;
  bool terminal_;
  bool live_ = false;
};

} // namespace assay
