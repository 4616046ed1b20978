#include "harness/device/cuda/server_process.h"

#include "harness/base/forked.h"
#include "harness/device/cuda/server.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace assay::cuda {

namespace {

constexpr std::chrono::milliseconds start_limit = std::chrono::minutes(2);
// A process that is killed while a kernel runs is gone only when the driver has taken the kernel down.
constexpr std::chrono::milliseconds end_limit = std::chrono::minutes(1);
constexpr std::size_t longest_answer = std::size_t{128} << 10;
constexpr int most_counted = 200; // an exit status has eight bits
constexpr int socket_in_child = 3;

// A child holds no file of the parent's but standard error and `keep`, which becomes socket_in_child.
void leave_files(int keep) {
  ::dup2(STDERR_FILENO, STDOUT_FILENO); // what a kernel prints is no result
  if (keep >= 0 && keep != socket_in_child) ::dup2(keep, socket_in_child);
  ::close_range(keep >= 0 ? socket_in_child + 1 : socket_in_child, ~0u, 0);
}

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

// The first fork: a process for each request to start one, and word of its end.
[[noreturn]] void start_on_request(const Driver& driver, int ordinal, const SharedMemory& memory) {
  char request = 0;
  while (::recv(socket_in_child, &request, 1, 0) > 0) {
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
      start_afresh(parent);
      serve(driver, ordinal, socket_in_child, memory);
    }
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    Writer word;
    word.put(MessageKind::ended);
    word.put_text(child > 0 ? ending_of(status) : "no process could be made");
    if (::send(socket_in_child, word.bytes().data(), word.bytes().size(), MSG_NOSIGNAL) < 0) break;
  }
  ::_exit(0);
}

} // namespace

ServerProcess::ServerProcess(const Driver& driver, int ordinal, const SharedMemory& memory) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return;
  const pid_t parent = ::getpid();
  starter_ = ::fork();
  if (starter_ == 0) {
    start_afresh(parent);
    leave_files(sockets[1]);
    start_on_request(driver, ordinal, memory);
  }
  ::close(sockets[1]);
  socket_ = sockets[0];
}

ServerProcess::~ServerProcess() {
  stop();
  end_all();
}

void ServerProcess::end_all() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  pid_ = -1;
  if (starter_ <= 0) return;
  ::kill(starter_, SIGKILL);
  while (::waitpid(starter_, nullptr, 0) < 0 && errno == EINTR) {
  }
  starter_ = -1;
}

Result<GpuFacts> ServerProcess::start() {
  stop();
  constexpr char request = 1;
  if (starter_ <= 0 || ::send(socket_, &request, 1, MSG_NOSIGNAL) < 0)
    return environment_error({}, "no process for the GPU could be made");
  pid_ = starter_; // until it has said its own
  std::string answer;
  const Answered answered = receive(start_limit, answer);
  if (answered == Answered::too_late)
    return environment_error({}, "the CUDA driver did not start within {} s",
                             std::chrono::duration_cast<std::chrono::seconds>(start_limit).count());
  if (answered == Answered::died)
    return environment_error({}, "the CUDA driver ended its process at the start ({})", last_words_);
  Reader in(answer);
  const Reply reply = Reply::take(in);
  const auto facts = in.take<GpuFacts>();
  pid_ = facts.process;
  if (reply.stage == Stage::done) return facts;
  stop();
  return environment_error({}, "{}", reply.text);
}

void ServerProcess::stop() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  if (pid_ == starter_) return end_all(); // it had not even started
  const auto deadline = std::chrono::steady_clock::now() + end_limit;
  pollfd waiting{socket_, POLLIN, 0};
  while (pid_ > 0 && std::chrono::steady_clock::now() < deadline) {
    std::string late_answer;
    if (::poll(&waiting, 1, 100) > 0 && !take_message(late_answer)) return;
  }
  if (pid_ > 0) end_all();
}

bool ServerProcess::take_message(std::string& message) {
  message.resize(longest_answer);
  ssize_t size = 0;
  do size = ::recv(socket_, message.data(), message.size(), 0);
  while (size < 0 && errno == EINTR);
  if (size <= 0) {
    last_words_ = "without a word";
    end_all();
    return false;
  }
  message.resize(static_cast<std::size_t>(size));
  Reader in(message);
  if (in.take<MessageKind>() == MessageKind::answer) {
    message.erase(0, sizeof(MessageKind));
    return true;
  }
  last_words_ = in.take_text();
  pid_ = -1;
  return false;
}

Answered ServerProcess::receive(std::chrono::milliseconds limit, std::string& answer) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + limit;
  pollfd waiting{socket_, POLLIN, 0};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready > 0) return take_message(answer) ? Answered::yes : Answered::died;
    stop();
    return Answered::too_late;
  }
}

// A process that is gone shows when its answer is waited for.
void ServerProcess::tell(const Writer& request) const {
  ssize_t sent = 0;
  do sent = ::send(socket_, request.bytes().data(), request.bytes().size(), MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
}

namespace {

int count_gpus() {
  const Result<const Driver*> driver = load_driver();
  if (!driver) return 0;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    start_afresh(parent);
    leave_files(-1);
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

} // namespace

int visible_gpus() {
  static const int count = count_gpus();
  return count;
}

} // namespace assay::cuda
