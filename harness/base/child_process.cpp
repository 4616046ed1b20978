#include "harness/base/child_process.h"

#include "harness/base/check.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay {
namespace {

// A file in memory: the child gets its input from one and leaves what it writes in two more, so that neither
// side waits for the other.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("child", MFD_CLOEXEC)) {
    ASSAY_CHECK(fd_ >= 0, "memfd_create: {}", std::strerror(errno));
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(fd_); }

  int fd() const { return fd_; }
  bool fill(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t size = ::write(fd_, bytes.data(), bytes.size());
      if (size <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
    return ::lseek(fd_, 0, SEEK_SET) == 0;
  }
  std::string contents() const {
    std::string text;
    std::array<char, 1 << 16> block;
    for (ssize_t size;
         (size = ::pread(fd_, block.data(), block.size(), static_cast<off_t>(text.size()))) > 0;)
      text.append(block.data(), static_cast<std::size_t>(size));
    return text;
  }

 private:
  int fd_;
};

// Whether the child ended in time; one that did not is ended.
bool ends_in_time(pid_t child, std::chrono::seconds patience) {
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  if (handle < 0) return true; // an old kernel: waits as long as it takes
  pollfd waited{handle, POLLIN, 0};
  int ready = 0;
  do ready = ::poll(&waited, 1, static_cast<int>(std::chrono::milliseconds(patience).count()));
  while (ready < 0 && errno == EINTR);
  if (ready == 0) ::kill(child, SIGKILL);
  ::close(handle);
  return ready != 0;
}

} // namespace

Result<ChildRun> run_child(const std::filesystem::path& program, const std::vector<std::string>& args,
                           std::string_view input, std::chrono::seconds patience) {
  const MemoryFile in, out, log;
  if (!in.fill(input)) return environment_error({}, "no memory for the input of {}", program.string());
  posix_spawn_file_actions_t actions;
  ASSAY_CHECK(::posix_spawn_file_actions_init(&actions) == 0, "spawn");
  ::posix_spawn_file_actions_adddup2(&actions, in.fd(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.fd(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, log.fd(), STDERR_FILENO);
  std::vector<std::string> texts{program.string()};
  texts.insert(texts.end(), args.begin(), args.end());
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, program.c_str(), &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return environment_error({}, "cannot run {}: {}", program.string(), std::strerror(error));

  const bool in_time = ends_in_time(child, patience);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return ChildRun{in_time, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), out.contents(),
                  log.contents()};
}

} // namespace assay
