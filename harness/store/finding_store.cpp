#include "harness/store/finding_store.h"

#include "harness/base/files.h"
#include "harness/base/hash.h"

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

constexpr std::string_view earlier = "earlier-";

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

Result<fs::path> earlier_folder(const fs::path& folder, const std::string& text) {
  fs::path made = folder / fmt::format("{}{}", earlier, content_hash(text).substr(0, 8));
  ASSAY_TRY_VOID(make_folder(made));
  return made;
}

// The minimized case comes last, so that after a kill in between the next one does it again.
Result<void> set_aside(const fs::path& folder, const std::string& minimized) {
  ASSAY_TRY(const fs::path to, earlier_folder(folder, minimized));
  for (const char* name : {"report.json", "original.case", "minimized.case"}) {
    std::error_code ec;
    fs::rename(folder / name, to / name, ec);
    if (ec && ec != std::errc::no_such_file_or_directory)
      return environment_error({(folder / name).string()}, "cannot be moved to {}: {}", to.string(),
                               ec.message());
  }
  return {};
}

// Stores the original; a copy of another one that is there, and was never minimized, is made first.
Result<FindingClaim> take(FindingClaim claim, const Case& original) {
  const fs::path file = claim.folder() / "original.case";
  const std::string text = to_text(original);
  std::error_code ec;
  if (fs::exists(file, ec)) {
    ASSAY_TRY(const std::string before, read_file(file));
    if (before != text) {
      ASSAY_TRY(const fs::path kept, earlier_folder(claim.folder(), before));
      ASSAY_TRY_VOID(write_file(kept / "original.case", before));
    }
  }
  ASSAY_TRY_VOID(write_file(file, text));
  return claim;
}

// The finding that a folder holds; nothing where it holds none.
Result<std::optional<StoredFinding>> stored_in(const fs::path& folder) {
  StoredFinding finding;
  finding.folder = folder;
  std::error_code ec;
  for (const char* name : {"minimized.case", "original.case"})
    if (finding.case_file.empty() && fs::is_regular_file(folder / name, ec))
      finding.case_file = folder / name;
  if (finding.case_file.empty()) return std::nullopt;
  ASSAY_TRY(finding.hits, read_hits(folder));
  return finding;
}

Result<std::vector<fs::path>> folders_in(const fs::path& folder) {
  std::error_code ec;
  std::vector<fs::path> folders;
  fs::directory_iterator it(folder, ec);
  for (const fs::directory_iterator end; !ec && it != end; it.increment(ec))
    if (std::error_code ignored; it->is_directory(ignored)) folders.push_back(it->path());
  if (ec && ec != std::errc::no_such_file_or_directory) // a campaign at work may remove one of its own
    return user_error({folder.string()}, "cannot be read: {}", ec.message());
  return folders;
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
  if (fs::is_regular_file(folder / "minimized.case", ec)) return std::nullopt;
  return take(std::move(claim), original);
}

Result<std::optional<FindingClaim>> FindingStore::replace(const Signature& signature, const Case& original,
                                                          const std::string& outdated) const {
  const fs::path folder = folder_of(signature);
  ASSAY_TRY(const std::optional<int> lock, try_lock(folder / ".lock"));
  if (!lock) return std::nullopt;
  FindingClaim claim(folder, *lock);
  const auto stored = read_file(folder / "minimized.case");
  if (!stored || *stored != outdated) return std::nullopt;
  ASSAY_TRY_VOID(set_aside(folder, *stored));
  return take(std::move(claim), original);
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
  const auto add = [&](const fs::path& kernel, const fs::path& signature, const fs::path& folder) {
    auto stored = stored_in(folder);
    if (!stored) return Result<void>(std::unexpected(stored.error()));
    if (!*stored) return Result<void>{};
    StoredFinding& finding = findings.emplace_back(**std::move(stored));
    finding.kernel = kernel.filename().string();
    finding.signature = signature.filename().string();
    finding.earlier = folder != signature;
    return Result<void>{};
  };
  ASSAY_TRY(const auto kernels, folders_in(out_));
  for (const fs::path& kernel : kernels) {
    ASSAY_TRY(const auto signatures, folders_in(kernel));
    for (const fs::path& signature : signatures) {
      ASSAY_TRY_VOID(add(kernel, signature, signature));
      ASSAY_TRY(const auto below, folders_in(signature));
      for (const fs::path& folder : below)
        if (folder.filename().string().starts_with(earlier)) ASSAY_TRY_VOID(add(kernel, signature, folder));
    }
  }
  std::ranges::sort(findings, {}, &StoredFinding::folder);
  return findings;
}

std::string name_of_case(const fs::path& case_file) {
  std::string stem = case_file.stem().string();
  if (stem != "minimized" && stem != "original") return stem;
  std::error_code ec;
  const fs::path folder = fs::absolute(case_file, ec).parent_path();
  const std::string name = folder.filename().string();
  return name.starts_with(earlier) ? folder.parent_path().filename().string() + "-" + name : name;
}

} // namespace assay
