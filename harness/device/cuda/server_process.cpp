#include "harness/device/cuda/server_process.h"

#include "harness/device/cuda/server.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace assay::cuda {

namespace {

constexpr std::chrono::milliseconds start_limit = std::chrono::minutes(2);
constexpr std::size_t longest_answer = std::size_t{128} << 10;
constexpr int most_counted = 200; // an exit status has eight bits

// In a child, before anything else: it dies with its parent, no handler of the parent's is its own, and it
// holds no file of the parent's but standard error and `keep`.
int become_child(pid_t parent, int keep) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  ::signal(SIGINT, SIG_IGN); // Ctrl-C is the parent's to handle
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(STDERR_FILENO, STDOUT_FILENO); // what a kernel prints is no result
  constexpr int first_free = 3;
  if (keep >= 0 && keep != first_free) ::dup2(keep, first_free);
  ::close_range(keep >= 0 ? first_free + 1 : first_free, ~0u, 0);
  return first_free;
}

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

} // namespace

Result<ServerProcess> ServerProcess::start(const Driver& driver, int ordinal, const SharedMemory& memory,
                                           GpuFacts& facts) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return environment_error({}, "no socket for the GPU's process: {}", std::strerror(errno));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) serve(driver, ordinal, become_child(parent, sockets[1]), memory);
  ::close(sockets[1]);
  if (child < 0) {
    ::close(sockets[0]);
    return environment_error({}, "no process for the GPU: {}", std::strerror(errno));
  }
  ServerProcess process(child, sockets[0]);
  std::string answer;
  const Answered answered = process.receive(start_limit, answer);
  if (answered == Answered::too_late)
    return environment_error({}, "the CUDA driver did not start within {} s",
                             std::chrono::duration_cast<std::chrono::seconds>(start_limit).count());
  if (answered == Answered::died)
    return environment_error({}, "the CUDA driver ended its process at the start ({})", process.last_words());
  Reader in(answer);
  const auto stage = in.take<Stage>();
  in.take<Status>();
  const std::string text = in.take_text();
  facts = in.take<GpuFacts>();
  if (stage != Stage::done) return environment_error({}, "{}", text);
  return process;
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::exchange(other.socket_, -1)) {}

ServerProcess& ServerProcess::operator=(ServerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(socket_, other.socket_);
  return *this;
}

void ServerProcess::stop() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  last_words_ = ending_of(status);
  pid_ = -1;
}

Answered ServerProcess::receive(std::chrono::milliseconds limit, std::string& answer) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + limit;
  pollfd waiting{socket_, POLLIN, 0};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready > 0) break;
    stop();
    return Answered::too_late;
  }
  answer.resize(longest_answer);
  ssize_t size = 0;
  do size = ::recv(socket_, answer.data(), answer.size(), 0);
  while (size < 0 && errno == EINTR);
  if (size <= 0) {
    int status = 0;
    if (::waitpid(pid_, &status, 0) == pid_) {
      pid_ = -1;
      stop();
      last_words_ = ending_of(status);
    } else {
      stop();
    }
    return Answered::died;
  }
  answer.resize(static_cast<std::size_t>(size));
  return Answered::yes;
}

Answered ServerProcess::ask(const Writer& request, std::chrono::milliseconds limit, std::string& answer) {
  ssize_t sent = 0;
  do sent = ::send(socket_, request.bytes().data(), request.bytes().size(), MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return receive(limit, answer); // a process that is gone shows there
}

int visible_gpus() {
  const Result<const Driver*> driver = load_driver();
  if (!driver) return 0;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    become_child(parent, -1);
    int count = 0;
    const bool works = (*driver)->init(0) == success && (*driver)->device_count(&count) == success;
    ::_exit(works ? std::min(count, most_counted) : 0);
  }
  if (child < 0) return 0;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

} // namespace assay::cuda
