#include "harness/compile/mlir_tool.h"

#include "harness/base/check.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr const char* tool_name = "mlir-opt-22";
constexpr int patience_ms = 60'000;

// A file in memory: the child gets its input from one and leaves what it writes in two more, so that neither
// side waits for the other.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("mlir", MFD_CLOEXEC)) {
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
bool ends_in_time(pid_t child) {
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  if (handle < 0) return true; // an old kernel: waits as long as it takes
  pollfd waited{handle, POLLIN, 0};
  int ready = 0;
  do ready = ::poll(&waited, 1, patience_ms);
  while (ready < 0 && errno == EINTR);
  if (ready == 0) ::kill(child, SIGKILL);
  ::close(handle);
  return ready != 0;
}

bool is_program(const fs::path& path) {
  return ::access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path);
}

} // namespace

Result<fs::path> find_mlir_opt() {
  const char* value = std::getenv("PATH");
  for (std::string_view rest = value != nullptr ? value : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    fs::path tool = fs::path(rest.substr(0, end)) / tool_name;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (tool.is_absolute() && is_program(tool)) return tool;
  }
  return environment_error({}, "an .mlir source needs {}: install Debian's package mlir-22-tools", tool_name);
}

Result<MlirRun> run_mlir_opt(const fs::path& tool, const std::vector<std::string>& args,
                             std::string_view input) {
  const MemoryFile in, out, log;
  if (!in.fill(input)) return environment_error({}, "no memory for {}'s input", tool.string());
  posix_spawn_file_actions_t actions;
  ASSAY_CHECK(::posix_spawn_file_actions_init(&actions) == 0, "spawn");
  ::posix_spawn_file_actions_adddup2(&actions, in.fd(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.fd(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, log.fd(), STDERR_FILENO);
  std::vector<std::string> texts{tool.string()};
  texts.insert(texts.end(), args.begin(), args.end());
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, tool.c_str(), &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return environment_error({}, "cannot run {}: {}", tool.string(), std::strerror(error));

  const bool in_time = ends_in_time(child);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return user_error({}, "{} did not end within {} s", tool_name, patience_ms / 1000);
  return MlirRun{WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), out.contents(),
                 log.contents()};
}

fs::path find_libdevice(const std::vector<fs::path>& roots) {
  std::error_code error;
  for (const fs::path& root : roots)
    if (fs::is_regular_file(root / "nvvm/libdevice/libdevice.10.bc", error)) return root;
  return {};
}

} // namespace assay
