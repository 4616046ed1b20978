#include "tools/console.h"

#include <fmt/format.h>

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

void Console::progress(std::span<const std::string> screen, std::string_view line) {
  next_ = Clock::now() + period_;
  if (!terminal_) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
    return;
  }
  winsize window{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col < 2 || window.ws_row < 2)
    window = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  // Lines that wrap, or scroll off the top, could not be rewritten.
  const std::size_t columns = window.ws_col - 1u, rows = window.ws_row - 1u;
  const std::size_t dropped = screen.size() > rows ? screen.size() - rows : 0;
  std::string text = erased();
  live_ = 0;
  for (std::size_t i = 0; i < screen.size(); ++i) {
    if (i + 1 < screen.size() && i + 1 + dropped >= screen.size()) continue;
    if (live_++ > 0) text += '\n';
    text += screen[i].substr(0, columns);
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// To the first of the live lines, and everything from there off the terminal.
std::string Console::erased() const {
  if (live_ == 0) return "";
  return "\r" + (live_ > 1 ? fmt::format("\033[{}A", live_ - 1) : "") + "\033[J";
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
  if (live_ == 0) return;
  const std::string text = erased();
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  live_ = 0;
}

} // namespace assay
