// What a campaign and one of its workers share: a file that both map. The worker writes down each case before
// it runs it, so that whatever kills the worker, the case that did it is on disk; and it counts here, so that
// the campaign can show progress without a message. The file outlives a worker: its successor goes on
// counting in it, and so does a campaign that takes up another that was killed.
#pragma once

#include "harness/base/error.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace assay {

inline constexpr std::size_t max_case_text = std::size_t{32} << 10; // bytes; also libFuzzer's -max_len
inline constexpr std::size_t max_seen_blocks = std::size_t{1} << 15;

inline constexpr int cannot_store = 74; // a worker's exit status: the disk is full, say

enum Stop : std::uint32_t {
  keep_going = 0,
  stop_after_case = 1, // what has been found is still minimized
  stop_at_once = 2,    // ... only as far as it has come
};

struct WorkerStatus {
  static constexpr std::uint64_t magic_number = 0x34'74'73'79'61'73'73'61; // "assayst4"

  std::uint64_t magic = magic_number;
  // Set by the campaign before the worker starts.
  std::uint64_t started_ns = 0; // CLOCK_MONOTONIC when the campaign began (or would have, without its breaks)
  std::uint64_t case_limit = 0; // the worker ends after this many cases; 0: no limit
  std::uint32_t worker = 0;     // of `workers`, from 0: which share of the sweep is its own
  std::uint32_t workers = 1;
  std::uint32_t turn = 0;    // among the workers of all kernels, which share the GPUs out by it
  std::int32_t campaign = 0; // its process id; a worker whose parent is another ends
  std::atomic<std::uint32_t> stop = keep_going; // a Stop, set by the campaign
  std::atomic<std::uint32_t> pause = 0;         // 1, set by the campaign: another kernel's turn
  // The campaign's clocks, nanoseconds, kept with the first worker of a kernel: how long it has lasted, and
  // in how much of that a worker of this kernel ran.
  std::uint64_t elapsed_ns = 0, ran_ns = 0;

  // Counted by the worker.
  std::atomic<std::uint32_t> paused = 0;   // 1 while it waits for its next turn
  std::atomic<std::uint64_t> steps = 0;    // cases begun, those of minimizing among them: a sign of life
  std::atomic<double> worst_ratio = 0;     // the largest target_error / threshold of a valid gate
  std::atomic<std::uint64_t> cases = 0;    // judged by the host, or screened
  std::atomic<std::uint64_t> screened = 0; // found plainly clean by the screen alone
  std::atomic<std::uint64_t> unjudged = 0; // neither: not clean, and the host had no time for it
  std::atomic<std::uint64_t> hits = 0;     // of findings, repeats included
  std::atomic<std::uint64_t> suspects_not_confirmed = 0;
  std::atomic<std::uint64_t> inconclusive = 0; // cases with a gate that was not valid
  std::atomic<std::uint64_t> not_run = 0;      // drawn, but refused before the launch: too much memory, say
  std::atomic<std::uint64_t> sweep_next = 0;   // position in the sweep of corner cases
  std::atomic<std::uint32_t> blocks = 0;       // basic blocks of the device code loaded so far
  std::array<std::atomic<std::uint8_t>, max_seen_blocks / 8> blocks_seen{}; // one bit a block

  // Why it ended: it could not store what it found (exit status cannot_store), or the screen and the host
  // contradict each other (70).
  std::array<char, 512> trouble{};

  // The case in work. It stays where a finding could not be stored, so that nothing is lost.
  std::atomic<std::uint32_t> running = 0; // 1 while a case is being judged
  std::uint32_t text_size = 0;
  std::array<char, max_case_text> text{};

  // The worker's: sleeps while it is paused and not told to stop.
  void wait_for_turn();
  // The campaign's, after it has changed `pause` or `stop`.
  void wake();

  void tell(std::string_view why); // as `trouble`
  void begin_case(std::string_view case_text);
  void end_case() { running.store(0, std::memory_order_release); }
  std::string_view case_text() const { return {text.data(), text_size}; }
};

// A mapped WorkerStatus; unmapped on destruction, the file stays.
class StatusFile {
 public:
  // The campaign's: a new, zeroed one in place of any other.
  static Result<StatusFile> create(const std::filesystem::path& path);
  // The campaign's: the one that an earlier campaign left, once the worker that used it is gone (which is
  // waited for). Nothing: there is none, or none that can be used.
  static std::optional<StatusFile> adopt(const std::filesystem::path& path);
  // The worker's, locked as long as this lives. An environment error if another build of assay wrote it.
  static Result<StatusFile> open(const std::filesystem::path& path);

  StatusFile(StatusFile&& other) noexcept
      : file_(std::exchange(other.file_, -1)), status_(std::exchange(other.status_, nullptr)) {}
  StatusFile& operator=(StatusFile&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(status_, other.status_);
    return *this;
  }
  ~StatusFile();

  WorkerStatus* operator->() const { return status_; }
  WorkerStatus& operator*() const { return *status_; }

 private:
  StatusFile(int file, WorkerStatus* status) : file_(file), status_(status) {}
  static Result<StatusFile> map(const std::filesystem::path& path, int flags);

  int file_ = -1;
  WorkerStatus* status_ = nullptr;
};

// CLOCK_MONOTONIC, nanoseconds: one clock for every process of the machine.
std::uint64_t monotonic_ns();

} // namespace assay
