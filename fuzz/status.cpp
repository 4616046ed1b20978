#include "fuzz/status.h"

#include "harness/base/check.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <new>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                  std::atomic<std::uint8_t>::is_always_lock_free && std::atomic<double>::is_always_lock_free,
              "the status is shared between processes");

void WorkerStatus::begin_case(std::string_view case_text) {
  ASSAY_CHECK(case_text.size() <= text.size(), "a case text of {} bytes", case_text.size());
  std::memcpy(text.data(), case_text.data(), case_text.size());
  text_size = static_cast<std::uint32_t>(case_text.size());
  running.store(1, std::memory_order_release);
}

void WorkerStatus::tell(std::string_view why) {
  trouble[why.copy(trouble.data(), trouble.size() - 1)] = '\0';
}

void WorkerStatus::wait_for_turn() {
  paused = 1;
  const timespec a_second{1, 0}; // where a campaign is killed before it wakes anyone, its workers are, too
  while (pause != 0 && stop == keep_going) ::syscall(SYS_futex, &pause, FUTEX_WAIT, 1, &a_second, nullptr, 0);
  paused = 0;
}

void WorkerStatus::wake() { ::syscall(SYS_futex, &pause, FUTEX_WAKE, 1, nullptr, nullptr, 0); }

Result<StatusFile> StatusFile::map(const std::filesystem::path& path, int flags) {
  const Place place{path.string()};
  const int file = ::open(path.c_str(), flags | O_RDWR | O_CLOEXEC, 0644);
  if (file < 0) return environment_error(place, "cannot be opened: {}", std::strerror(errno));
  const bool create = (flags & O_CREAT) != 0;
  const auto of_another_build = [&] {
    return environment_error(place, "is not a worker's status as this assay-fuzz knows it: another build of "
                                    "assay wrote it; build assay and assay-fuzz together");
  };
  struct stat about{};
  void* memory = MAP_FAILED;
  errno = create ? ::posix_fallocate(file, 0, sizeof(WorkerStatus)) : 0; // so that a full disk is met here
  if (errno == 0 && ::fstat(file, &about) == 0) {
    if (static_cast<std::size_t>(about.st_size) != sizeof(WorkerStatus)) {
      ::close(file);
      return of_another_build();
    }
    memory = ::mmap(nullptr, sizeof(WorkerStatus), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (memory == MAP_FAILED) {
    const int cause = errno;
    ::close(file);
    return environment_error(place, "cannot be used as a worker's status: {}", std::strerror(cause));
  }
  StatusFile mapped(file, create ? new (memory) WorkerStatus : static_cast<WorkerStatus*>(memory));
  if (mapped->magic != WorkerStatus::magic_number) return of_another_build();
  return mapped;
}

Result<StatusFile> StatusFile::create(const std::filesystem::path& path) {
  ::unlink(path.c_str());
  return map(path, O_CREAT | O_EXCL);
}

Result<StatusFile> StatusFile::open(const std::filesystem::path& path) {
  auto status = map(path, 0);
  if (status) ::flock(status->file_, LOCK_SH);
  return status;
}

std::optional<StatusFile> StatusFile::adopt(const std::filesystem::path& path) {
  auto status = map(path, 0);
  if (!status) return std::nullopt;
  while (::flock(status->file_, LOCK_EX) != 0 && errno == EINTR) {
  }
  ::flock(status->file_, LOCK_UN);
  return *std::move(status);
}

StatusFile::~StatusFile() {
  if (status_ != nullptr) ::munmap(status_, sizeof(WorkerStatus));
  if (file_ >= 0) ::close(file_);
}

std::uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace assay
