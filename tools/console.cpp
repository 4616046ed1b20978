#include "tools/console.h"

#include <cstdio>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace assay {

using Clock = std::chrono::steady_clock;

Console::Console(std::chrono::milliseconds plain_period) : terminal_(::isatty(STDERR_FILENO) == 1) {
  period_ = terminal_ ? std::chrono::milliseconds(200) : plain_period;
  next_ = Clock::now() + period_;
}

bool Console::progress_due() const { return Clock::now() >= next_; }

void Console::progress(std::string_view line) {
  next_ = Clock::now() + period_;
  if (!terminal_) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
    return;
  }
  winsize window{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 && line.size() >= window.ws_col)
    line = line.substr(0, window.ws_col - 1u); // a line that wraps could not be rewritten
  std::fprintf(stderr, "\r\033[K%.*s", static_cast<int>(line.size()), line.data());
  std::fflush(stderr);
  live_ = true;
}

void Console::note(std::string_view line) {
  clear();
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

void Console::result(std::string_view text) {
  clear();
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

void Console::clear() {
  if (!live_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  live_ = false;
}

} // namespace assay
