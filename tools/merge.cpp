#include "tools/merge.h"

#include <chrono>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace assay {

namespace fs = std::filesystem;

Result<WorkerCommand> merge_command(const fs::path& manifest, const std::string& device, const fs::path& into,
                                    std::span<const std::string> from, const fs::path& log) {
  ASSAY_TRY(const fs::path program, find_worker_program());
  WorkerCommand command{
      .program = program, .args = {"-merge=1", into.string()}, .environment = {}, .log = log};
  command.args.insert(command.args.end(), from.begin(), from.end());
  command.environment = {{"ASSAY_KERNEL", manifest.string()}, {"ASSAY_DEVICE", device}};
  return command;
}

Result<void> merge_corpora(const fs::path& manifest, const std::string& device, const fs::path& into,
                           std::span<const std::string> from) {
  std::error_code ec;
  std::string log = (fs::temp_directory_path(ec) / "assay-merge-XXXXXX").string();
  const int file = ::mkstemp(log.data());
  if (file < 0) return environment_error(Place{log}, "cannot be created");
  ::close(file);
  ASSAY_TRY(const WorkerCommand command, merge_command(manifest, device, into, from, log));
  ASSAY_TRY(WorkerProcess worker, WorkerProcess::start(command));
  std::optional<Ended> ended;
  while (!(ended = worker.poll())) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (*ended == Ended{}) {
    fs::remove(log, ec);
    return {};
  }
  const std::string said = last_log_line(log);
  if (!ended->by_signal && (ended->code == 2 || ended->code == 4)) {
    fs::remove(log, ec);
    return std::unexpected(
        Error{ended->code == 2 ? ErrorKind::user : ErrorKind::environment, one_line(said), {}});
  }
  return internal_error("merging ended with {}; its log is {}", describe(*ended), log);
}

} // namespace assay
