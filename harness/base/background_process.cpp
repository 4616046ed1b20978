#include "harness/base/background_process.h"

#include "harness/base/check.h"
#include "harness/base/forked.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace assay {

namespace {

constexpr int yielding = 10; // nice
constexpr int pipe_in_child = 3;

[[noreturn]] void run(pid_t parent, int pipe, const std::function<Result<void>()>& work) {
  die_with(parent);
  forget_signal_handlers();
  if (pipe != pipe_in_child) ::dup2(pipe, pipe_in_child);
  ::close_range(pipe_in_child + 1, ~0u, 0);
  ::setpriority(PRIO_PROCESS, 0, yielding);
  const Result<void> done = work();
  if (done) ::_exit(0);
  const std::string& message = done.error().message;
  [[maybe_unused]] const ssize_t written = ::write(pipe_in_child, message.data(), message.size());
  ::_exit(1);
}

} // namespace

void BackgroundProcess::start(const std::function<Result<void>()>& work) {
  ASSAY_CHECK(!running(), "a second background process of one owner");
  std::array<int, 2> ends{-1, -1};
  began_ = std::chrono::steady_clock::now();
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return; // then ended() says that there is none
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) run(parent, ends[1], work);
  ::close(ends[1]);
  pipe_ = ends[0];
}

// What a pipe holds without a reader is more than a message is long.
std::string BackgroundProcess::said() {
  std::array<char, 4096> bytes{};
  const ssize_t size = ::read(pipe_, bytes.data(), bytes.size());
  ::close(std::exchange(pipe_, -1));
  return {bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::optional<Result<void>> BackgroundProcess::ended(std::chrono::seconds limit) {
  if (pid_ <= 0) {
    stop();
    return Result<void>(internal_error("no process could be made"));
  }
  int status = 0;
  const pid_t waited = ::waitpid(pid_, &status, WNOHANG);
  if (waited == 0 || (waited < 0 && errno == EINTR)) {
    if (std::chrono::steady_clock::now() - began_ < limit) return std::nullopt;
    stop();
    return Result<void>(internal_error("it was not done within {} s", limit.count()));
  }
  pid_ = -1;
  const std::string message = said();
  if (waited > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return Result<void>();
  if (!message.empty()) return Result<void>(user_error({}, "{}", message));
  if (waited > 0 && WIFSIGNALED(status))
    return Result<void>(internal_error("its process was killed by signal {}", WTERMSIG(status)));
  return Result<void>(internal_error("its process ended before its work"));
}

void BackgroundProcess::stop() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
  if (pipe_ >= 0) ::close(std::exchange(pipe_, -1));
}

} // namespace assay
