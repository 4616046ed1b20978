#include "tools/worker_process.h"

#include "harness/base/check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [key, value] : added) replaced = replaced || key == name;
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [key, value] : added) all.push_back(key + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

} // namespace

std::string describe(const Ended& ended) {
  if (ended.by_signal) return fmt::format("killed by signal {} ({})", ended.code, ::strsignal(ended.code));
  switch (ended.code) { // libFuzzer's; 1 is also that of the sanitizer runtime, which meets a signal first
  case 1:
    return "exit status 1 (crashed, or its corpus cannot be read)";
  case 70:
    return "exit status 70 (internal fault or time limit of one case)";
  case 71:
    return "exit status 71 (out of memory)";
  case 77:
    return "exit status 77 (crashed)";
  }
  return fmt::format("exit status {}", ended.code);
}

Result<WorkerProcess> WorkerProcess::start(const WorkerCommand& command) {
  std::vector<std::string> args{command.program.string()};
  args.insert(args.end(), command.args.begin(), command.args.end());
  std::vector<std::string> environment = merged_environment(command.environment);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ASSAY_CHECK(::posix_spawn_file_actions_init(&actions) == 0 && ::posix_spawnattr_init(&attributes) == 0,
              "spawn");
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, command.log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  sigset_t none, defaults;
  ::sigemptyset(&none);
  ::sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) ::sigaddset(&defaults, signal);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  pid_t pid = -1;
  const int failure = ::posix_spawn(&pid, command.program.c_str(), &actions, &attributes,
                                    pointers(args).data(), pointers(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    return environment_error(Place{command.program.string()}, "cannot be started: {}",
                             std::strerror(failure));
  return WorkerProcess(pid);
}

WorkerProcess::~WorkerProcess() {
  if (pid_ < 0) return;
  kill(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<Ended> WorkerProcess::poll() {
  ASSAY_CHECK(pid_ >= 0, "a worker that has already been waited for");
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  ASSAY_CHECK(ended == pid_, "waitpid: {}", std::strerror(errno));
  pid_ = -1;
  if (WIFSIGNALED(status)) return Ended{true, WTERMSIG(status)};
  return Ended{false, WEXITSTATUS(status)};
}

void WorkerProcess::kill(int signal) {
  if (pid_ >= 0) ::kill(-pid_, signal);
}

Result<fs::path> find_worker_program() {
  std::error_code ec;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ec).parent_path();
  for (const fs::path& candidate : {folder / "assay-fuzz", folder / ".." / "fuzz" / "assay-fuzz"})
    if (::access(candidate.c_str(), X_OK) == 0) return candidate.lexically_normal();
  return environment_error(Place{(folder / "assay-fuzz").string()}, "the fuzz worker is not there");
}

std::size_t affordable_workers() {
  constexpr std::size_t worker_kilobytes = 64'000; // of its own; seen: 40,000 to 75,000
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::size_t kilobytes = 0;
  while (file >> name >> kilobytes && name != "MemAvailable:") file.ignore(64, '\n');
  return file ? std::max<std::size_t>(kilobytes * 3 / 4 / worker_kilobytes, 1) : 1;
}

std::string last_log_lines(const fs::path& log, std::size_t most) {
  std::ifstream file(log);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) continue;
    lines.push_back(std::move(line));
    if (lines.size() > most) lines.pop_front();
  }
  return fmt::format("{}", fmt::join(lines, " | "));
}

} // namespace assay
