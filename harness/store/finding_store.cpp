#include "harness/store/finding_store.h"

#include "harness/base/files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace assay {

namespace fs = std::filesystem;

namespace {

// A folder name: letters, digits and "._-"; never hidden, never "..".
std::string folder_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    out += plain || (c == '.' && !out.empty()) ? c : '_';
  }
  return out.empty() ? "_" : out;
}

Result<void> make_folder(const fs::path& folder) {
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) return environment_error({folder.string()}, "cannot be created: {}", ec.message());
  return {};
}

// The lock is advisory and belongs to the open file, so it ends with the process that holds it. nullopt: it
// is taken.
Result<std::optional<int>> try_lock(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return environment_error({file.string()}, "cannot be opened: {}", std::strerror(errno));
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  const int cause = errno;
  ::close(fd);
  if (cause == EWOULDBLOCK) return std::nullopt;
  return environment_error({file.string()}, "cannot be locked: {}", std::strerror(cause));
}

constexpr std::size_t hits_digits = 20; // all that 64 bits can hold, so that a larger count needs no new room

// Calls f with the open file, locked, and closes it.
template <class F> Result<std::uint64_t> with_hits(const fs::path& file, int flags, int lock, F f) {
  const int fd = ::open(file.c_str(), flags | O_CLOEXEC, 0644);
  if (fd < 0) return environment_error({file.string()}, "cannot be opened: {}", std::strerror(errno));
  while (::flock(fd, lock) != 0 && errno == EINTR) {
  }
  char text[hits_digits + 1] = {};
  std::uint64_t count = 0;
  const ssize_t size = ::pread(fd, text, hits_digits, 0);
  if (size > 0) std::from_chars(text, text + size, count);
  errno = ENOSPC; // of a write that is cut short
  const bool done = size >= 0 && f(fd, count);
  const int cause = errno;
  ::close(fd);
  if (!done) return environment_error({file.string()}, "cannot be used: {}", std::strerror(cause));
  return count;
}

Result<std::uint64_t> read_hits(const fs::path& folder) {
  std::error_code ec;
  if (!fs::exists(folder / "hits", ec)) return 0;
  return with_hits(folder / "hits", O_RDONLY, LOCK_SH, [](int, std::uint64_t) { return true; });
}

Result<void> count_hits(const fs::path& folder, std::uint64_t hits) {
  const auto add = [&](int fd, std::uint64_t& count) {
    count += hits;
    const std::string line = fmt::format("{:0{}}\n", count, hits_digits);
    return ::pwrite(fd, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size());
  };
  if (const auto counted = with_hits(folder / "hits", O_RDWR | O_CREAT, LOCK_EX, add); !counted)
    return std::unexpected(counted.error());
  return {};
}

} // namespace

FindingClaim::FindingClaim(FindingClaim&& other) noexcept
    : folder_(std::move(other.folder_)), lock_(std::exchange(other.lock_, -1)) {}

FindingClaim& FindingClaim::operator=(FindingClaim&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(lock_, other.lock_);
  return *this;
}

FindingClaim::~FindingClaim() {
  if (lock_ >= 0) ::close(lock_);
}

Result<void> FindingClaim::describe(const std::string& report_json) const {
  return write_file(folder_ / "report.json", report_json);
}

Result<void> FindingClaim::complete(const Case& minimized, const std::string& report_json) const {
  ASSAY_TRY_VOID(write_file(folder_ / "report.json", report_json));
  return write_file(folder_ / "minimized.case", to_text(minimized));
}

fs::path FindingStore::folder_of(const Signature& signature) const {
  return out_ / folder_name(signature.kernel) / to_string(signature);
}

Result<std::optional<FindingClaim>> FindingStore::claim(const Signature& signature,
                                                        const Case& original) const {
  const fs::path folder = folder_of(signature);
  ASSAY_TRY_VOID(make_folder(folder));
  ASSAY_TRY_VOID(count_hits(folder, 1));
  ASSAY_TRY(const std::optional<int> lock, try_lock(folder / ".lock"));
  if (!lock) return std::nullopt;
  FindingClaim claim(folder, *lock);
  std::error_code ec;
  if (fs::exists(folder / "minimized.case", ec)) return std::nullopt;
  ASSAY_TRY_VOID(write_file(folder / "original.case", to_text(original)));
  return claim;
}

Result<void> FindingStore::add_hits(const Signature& signature, std::uint64_t count) const {
  ASSAY_TRY_VOID(make_folder(folder_of(signature)));
  return count_hits(folder_of(signature), count);
}

Result<std::uint64_t> FindingStore::hits(const Signature& signature) const {
  return read_hits(folder_of(signature));
}

Result<std::vector<StoredFinding>> FindingStore::list() const {
  std::vector<StoredFinding> findings;
  std::error_code ec;
  if (!fs::exists(out_, ec)) return findings;
  fs::directory_iterator kernels(out_, ec);
  if (ec) return user_error({out_.string()}, "cannot be read: {}", ec.message());
  for (const fs::directory_entry& kernel : kernels) {
    if (!kernel.is_directory(ec)) continue;
    fs::directory_iterator signatures(kernel.path(), ec);
    if (ec) return user_error({kernel.path().string()}, "cannot be read: {}", ec.message());
    for (const fs::directory_entry& entry : signatures) {
      StoredFinding finding;
      finding.folder = entry.path();
      for (const char* name : {"minimized.case", "original.case"})
        if (finding.case_file.empty() && fs::is_regular_file(entry.path() / name, ec))
          finding.case_file = entry.path() / name;
      if (finding.case_file.empty()) continue;
      finding.kernel = kernel.path().filename().string();
      finding.signature = entry.path().filename().string();
      ASSAY_TRY(finding.hits, read_hits(entry.path()));
      findings.push_back(std::move(finding));
    }
  }
  std::ranges::sort(findings, {}, &StoredFinding::folder);
  return findings;
}

} // namespace assay
