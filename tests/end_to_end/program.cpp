#include "tests/end_to_end/program.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::testing {

namespace fs = std::filesystem;

namespace {

struct Pipe {
  std::array<int, 2> ends{};
  Pipe() { EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0); }
};

[[noreturn]] void become(const std::string& program, const std::vector<std::string>& args,
                         const ProgramOptions& options, int out, int err) {
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  constexpr unsigned nobody = 65534;
  if (options.unprivileged && ::geteuid() == 0 && (::setgid(nobody) != 0 || ::setuid(nobody) != 0))
    ::_exit(126);
  fs::current_path(options.folder.empty() ? checkout() : options.folder);
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& arg : args) words.push_back(const_cast<char*>(arg.c_str()));
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  ::_exit(127);
}

} // namespace

ProgramRun run_program(const std::string& program, const std::vector<std::string>& args,
                       const ProgramOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  Pipe out, err;
  const pid_t pid = ::fork();
  if (pid == 0) become(program, args, options, out.ends[1], err.ends[1]);
  ::close(out.ends[1]);
  ::close(err.ends[1]);
  if (options.while_running) options.while_running(pid);

  ProgramRun run;
  std::array<pollfd, 2> files{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
  for (int open = 2; open > 0;) {
    ::poll(files.data(), files.size(), -1);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].fd < 0 || files[i].revents == 0) continue;
      char block[4096];
      const ssize_t size = ::read(files[i].fd, block, sizeof block);
      if (size > 0) {
        (i == 0 ? run.out : run.err).append(block, static_cast<std::size_t>(size));
      } else {
        ::close(files[i].fd);
        files[i].fd = -1;
        --open;
      }
    }
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  run.exit = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return run;
}

ProgramRun run_assay(const std::vector<std::string>& args, const ProgramOptions& options) {
  return run_program(ASSAY_PROGRAM, args, options);
}

ProgramRun run_assay_fuzz(const std::vector<std::string>& args, const ProgramOptions& options) {
  return run_program(ASSAY_FUZZ_PROGRAM, args, options);
}

std::string assay_program() { return ASSAY_PROGRAM; }

fs::path checkout() { return ASSAY_CHECKOUT; }

std::string slurp(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "no '" << from << "' in:\n" << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

fs::path copy_kernel(const std::string& name, const TemporaryFolder& to) {
  fs::create_directories(to.path() / "kernels");
  for (const std::string& folder : {name, std::string("common")})
    fs::copy(checkout() / "kernels" / folder, to.path() / "kernels" / folder, fs::copy_options::recursive);
  return to.path() / "kernels" / name / "kernel.toml";
}

std::vector<int> children_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  std::vector<int> children;
  for (int child = 0; file >> child;) children.push_back(child);
  return children;
}

} // namespace assay::testing
