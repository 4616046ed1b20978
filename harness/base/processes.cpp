#include "harness/base/processes.h"

#include "harness/base/forked.h"
#include "harness/base/last_words.h"
#include "harness/base/memory_file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace assay {

namespace {

// What all children share: the next item that nobody has taken.
using Next = std::atomic<std::uint64_t>;
static_assert(Next::is_always_lock_free, "it is shared between processes");

// Before each text on the pipe; a child tells which item it begins with, so that it is known where it dies.
struct Head {
  std::uint64_t item = 0;
  std::uint64_t size = begins;
  static constexpr std::uint64_t begins = ~std::uint64_t{0}; // no text: the item is begun
};

bool write_all(int file, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::write(file, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

[[noreturn]] void run_child(int pipe, int last_words, pid_t parent, std::size_t count, Next& next,
                            const std::function<std::string(std::size_t)>& work) {
  die_with(parent);
  tell_last_words_to(last_words);
  for (std::uint64_t item = next++; item < count; item = next++) {
    Head head{item, Head::begins};
    if (!write_all(pipe, &head, sizeof head)) ::_exit(1);
    const std::string text = work(item);
    head.size = text.size();
    if (!write_all(pipe, &head, sizeof head) || !write_all(pipe, text.data(), text.size())) ::_exit(1);
  }
  ::_exit(0);
}

class Child {
 public:
  static Result<Child> start(std::size_t count, Next& next,
                             const std::function<std::string(std::size_t)>& work) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      return environment_error({}, "no pipe can be made: {}", std::strerror(errno));
    auto words = std::make_unique<MemoryFile>();
    const pid_t parent = ::getpid(), pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      run_child(ends[1], words->fd(), parent, count, next, work);
    }
    ::close(ends[1]);
    if (pid < 0) {
      ::close(ends[0]);
      return environment_error({}, "no process can be started: {}", std::strerror(errno));
    }
    return Child(pid, ends[0], std::move(words));
  }

  int pipe() const { return pipe_; }
  std::optional<std::uint64_t> at() const { return at_; } // the item that it has begun with

  // Takes what is there; false: it has ended.
  bool read(const std::function<void(std::size_t, Result<std::string>)>& done) {
    std::array<char, 1 << 16> bytes{};
    const ssize_t n = ::read(pipe_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) return true;
    if (n <= 0) return false;
    buffer_.append(bytes.data(), static_cast<std::size_t>(n));
    Head head;
    while (buffer_.size() >= sizeof head) {
      std::memcpy(&head, buffer_.data(), sizeof head);
      const std::size_t size = head.size == Head::begins ? 0 : head.size;
      if (buffer_.size() < sizeof head + size) break;
      at_ = head.size == Head::begins ? std::optional(head.item) : std::nullopt;
      if (head.size != Head::begins) done(head.item, buffer_.substr(sizeof head, size));
      buffer_.erase(0, sizeof head + size);
    }
    return true;
  }

  Error wait() { // how it ended
    ::close(pipe_);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    const int code = WIFSIGNALED(status) ? 0 : WEXITSTATUS(status);
    if (std::string words = words_->contents(); !words.empty())
      return {
          code == exit_code(ErrorKind::user) ? ErrorKind::user : ErrorKind::internal, std::move(words), {}};
    return {ErrorKind::internal,
            fmt::format("the process that was at it died: it {}",
                        WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status))
                                            : fmt::format("ended with exit status {}", code)),
            {}};
  }

 private:
  Child(pid_t pid, int pipe, std::unique_ptr<MemoryFile> words)
      : pid_(pid), pipe_(pipe), words_(std::move(words)) {}

  pid_t pid_;
  int pipe_;
  std::unique_ptr<MemoryFile> words_; // its last ones
  std::string buffer_;
  std::optional<std::uint64_t> at_;
};

} // namespace

Result<void> for_each_in_processes(std::size_t count, unsigned jobs,
                                   const std::function<std::string(std::size_t)>& work,
                                   const std::function<void(std::size_t, Result<std::string>)>& done) {
  if (count == 0) return {};
  std::vector<bool> told(count, false);
  const auto tell = [&](std::size_t item, Result<std::string> text) {
    told[item] = true;
    done(item, std::move(text));
  };
  void* memory = ::mmap(nullptr, sizeof(Next), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return environment_error({}, "no memory can be shared: {}", std::strerror(errno));
  Next& next = *new (memory) Next(0);
  std::vector<Child> children;
  Result<void> outcome;
  const auto start = [&] {
    auto child = Child::start(count, next, work);
    if (child)
      children.push_back(*std::move(child));
    else if (children.empty())
      outcome = std::unexpected(child.error()); // else those that live do it all
  };
  for (std::size_t k = 0; k < std::min<std::size_t>(jobs, count) && outcome; ++k) start();
  while (!children.empty()) {
    std::vector<pollfd> files;
    for (const Child& child : children) files.push_back({child.pipe(), POLLIN, 0});
    if (::poll(files.data(), files.size(), -1) < 0) continue; // a signal
    for (std::size_t k = children.size(); k-- > 0;) {
      if (files[k].revents == 0 || children[k].read(tell)) continue;
      const std::optional<std::uint64_t> at = children[k].at();
      Error how = children[k].wait();
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(k));
      if (!at) continue;
      tell(*at, std::unexpected(std::move(how)));
      if (next < count) start();
    }
  }
  ::munmap(memory, sizeof(Next));
  for (std::size_t item = 0; item < count && outcome; ++item) // a child died before it could tell
    if (!told[item]) done(item, internal_error("the process that was at it died"));
  return outcome;
}

} // namespace assay
