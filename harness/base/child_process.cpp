#include "harness/base/child_process.h"

#include "harness/base/check.h"
#include "harness/base/forked.h"
#include "harness/base/last_words.h"
#include "harness/base/memory_file.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay {
namespace {

constexpr int by_signal = 128; // and the signal's number

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

struct End {
  bool in_time = true;
  int exit = 0;
};

End wait_for(pid_t child, std::chrono::seconds patience) {
  End end{ends_in_time(child, patience), 0};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end.exit = WIFSIGNALED(status) ? by_signal + WTERMSIG(status) : WEXITSTATUS(status);
  if (end.exit == by_signal + SIGXCPU) end.in_time = false;
  return end;
}

rlimit of_processor(std::chrono::seconds limit) {
  const auto seconds = static_cast<rlim_t>(limit.count());
  return {seconds, seconds + 1};
}

// Kilobytes of private memory that can be written to.
std::size_t data_kilobytes() {
  std::ifstream file("/proc/self/status");
  std::string name;
  std::size_t kilobytes = 0;
  while (file >> name && name != "VmData:") file.ignore(1 << 12, '\n');
  file >> kilobytes;
  return kilobytes;
}

void become_child(pid_t parent, const ForkLimits& limits) {
  start_afresh(parent);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (const rlimit time = of_processor(limits.processor); limits.processor.count() > 0)
    ::setrlimit(RLIMIT_CPU, &time);
  if (limits.bytes > 0) {
    const rlim_t bytes = (data_kilobytes() << 10) + limits.bytes;
    const rlimit memory{bytes, bytes};
    ::setrlimit(RLIMIT_DATA, &memory);
  }
}

} // namespace

Result<ChildRun> run_child(const std::filesystem::path& program, const std::vector<std::string>& args,
                           std::string_view input, std::chrono::seconds patience,
                           std::chrono::seconds processor) {
  const MemoryFile in, out, log;
  if (!in.append(input) || !in.rewind())
    return environment_error({}, "no memory for the input of {}", program.string());
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
  if (const rlimit time = of_processor(processor); processor.count() > 0)
    ::prlimit(child, RLIMIT_CPU, &time, nullptr);
  const End end = wait_for(child, patience);
  return ChildRun{end.in_time, end.exit, out.contents(), log.contents()};
}

Result<ForkedRun> run_forked(const std::function<std::string()>& work, const ForkLimits& limits) {
  const MemoryFile out, words;
  std::fflush(stdout); // else the child writes it too
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) return environment_error({}, "no process can be started: {}", std::strerror(errno));
  if (child == 0) {
    become_child(parent, limits);
    tell_last_words_to(words.fd());
    try {
      if (out.append(work())) ::_exit(0);
    } catch (const std::exception& error) {
      end_process(exit_code(ErrorKind::internal), error.what());
    }
    end_process(exit_code(ErrorKind::internal), "no memory for the answer");
  }
  const End end = wait_for(child, limits.patience);
  return ForkedRun{end.in_time, end.exit, out.contents(), words.contents()};
}

std::string how_it_ended(int exit) {
  if (exit <= by_signal) return fmt::format("ended with exit status {}", exit);
  return fmt::format("was killed by signal {} ({})", exit - by_signal, ::strsignal(exit - by_signal));
}

} // namespace assay
