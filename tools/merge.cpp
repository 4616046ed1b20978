#include "tools/merge.h"

#include "harness/base/scratch_folder.h"

#include <chrono>
#include <thread>

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
  ASSAY_TRY(ScratchFolder scratch, ScratchFolder::create("merge"));
  const fs::path log = scratch.path() / "log";
  ASSAY_TRY(const WorkerCommand command, merge_command(manifest, device, into, from, log));
  ASSAY_TRY(WorkerProcess worker, WorkerProcess::start(command));
  std::optional<Ended> ended;
  while (!(ended = worker.poll())) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (*ended == Ended{}) return {};
  if (!ended->by_signal && (ended->code == 2 || ended->code == 4))
    return std::unexpected(Error{
        ended->code == 2 ? ErrorKind::user : ErrorKind::environment, one_line(last_log_lines(log, 1)), {}});
  scratch.keep();
  return internal_error("merging ended with {}; its log is {}", describe(*ended), log.string());
}

} // namespace assay
