// What a campaign and one of its workers share: a file that both map. The worker writes down each case before
// it runs it, so that whatever kills the worker, the case that did it is on disk; and it counts here, so that
// the campaign can show progress without a message. The file outlives a worker: its successor goes on
// counting in it.
#pragma once

#include "harness/base/error.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace assay {

inline constexpr std::size_t max_case_text = std::size_t{32} << 10; // bytes; also libFuzzer's -max_len
inline constexpr std::size_t max_seen_blocks = std::size_t{1} << 15;

enum Stop : std::uint32_t {
  keep_going = 0,
  stop_after_case = 1, // what has been found is still minimized
  stop_at_once = 2,    // ... only as far as it has come
};

struct WorkerStatus {
  static constexpr std::uint64_t magic_number = 0x31'74'73'79'61'73'73'61; // "assayst1"

  std::uint64_t magic = magic_number;
  // Set by the campaign before the worker starts.
  std::uint64_t started_ns = 0; // CLOCK_MONOTONIC when the campaign began
  std::uint64_t case_limit = 0; // the worker ends after this many cases; 0: no limit
  std::uint32_t worker = 0;     // of `workers`, from 0: which share of the sweep is its own
  std::uint32_t workers = 1;
  std::atomic<std::uint32_t> stop = keep_going; // a Stop, set by the campaign

  // Counted by the worker.
  std::atomic<std::uint64_t> cases = 0; // judged
  std::atomic<std::uint64_t> hits = 0;  // of findings, repeats included
  std::atomic<std::uint64_t> suspects_not_confirmed = 0;
  std::atomic<std::uint64_t> inconclusive = 0; // cases with a gate that was not valid
  std::atomic<std::uint64_t> not_run = 0;      // drawn, but refused before the launch: too much memory, say
  std::atomic<std::uint64_t> sweep_next = 0;   // position in the sweep of corner cases
  std::atomic<std::uint32_t> blocks = 0;       // basic blocks of the device code loaded so far
  std::array<std::atomic<std::uint8_t>, max_seen_blocks / 8> blocks_seen{}; // one bit a block

  // The case in work.
  std::atomic<std::uint32_t> running = 0; // 1 while a case is being judged
  std::uint32_t text_size = 0;
  std::array<char, max_case_text> text{};

  void begin_case(std::string_view case_text);
  void end_case() { running.store(0, std::memory_order_release); }
  std::string_view case_text() const { return {text.data(), text_size}; }
};

// A mapped WorkerStatus; unmapped on destruction, the file stays.
class StatusFile {
 public:
  static Result<StatusFile>
  create(const std::filesystem::path& path); // a new, zeroed one in place of any other
  static Result<StatusFile> open(const std::filesystem::path& path); // an internal error if it is not one

  StatusFile(StatusFile&& other) noexcept : status_(other.status_) { other.status_ = nullptr; }
  StatusFile& operator=(StatusFile&& other) noexcept {
    std::swap(status_, other.status_);
    return *this;
  }
  ~StatusFile();

  WorkerStatus* operator->() const { return status_; }
  WorkerStatus& operator*() const { return *status_; }

 private:
  explicit StatusFile(WorkerStatus* status) : status_(status) {}
  static Result<StatusFile> map(const std::filesystem::path& path, int flags);

  WorkerStatus* status_ = nullptr;
};

// CLOCK_MONOTONIC, nanoseconds: one clock for every process of the machine.
std::uint64_t monotonic_ns();

} // namespace assay
