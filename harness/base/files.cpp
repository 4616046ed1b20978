#include "harness/base/files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay {

namespace fs = std::filesystem;

namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// A device or a pipe takes the bytes as they come; there is nothing to replace.
Result<void> write_into(const fs::path& path, std::string_view bytes) {
  const Place place{path.string()};
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK));
  if (!file) return environment_error(place, "cannot be opened: {}", std::strerror(errno));
  ::fcntl(file.get(), F_SETFL, O_WRONLY | O_APPEND); // a slow reader is waited for, a missing one was not
  if (!write_all(file.get(), bytes))
    return environment_error(place, "cannot be written: {}", std::strerror(errno));
  return {};
}

// Replaces a regular file, or makes one. `path` is no link.
Result<void> replace_file(const fs::path& path, std::string_view bytes) {
  const Place place{path.string()};
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) return environment_error(place, "cannot create its folder: {}", ec.message());

  std::string temporary = (folder / ("." + path.filename().string() + ".XXXXXX")).string();
  {
    const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file) return environment_error(place, "cannot be written: {}", std::strerror(errno));
    ::fchmod(file.get(), 0644);
    if (!write_all(file.get(), bytes) || ::fsync(file.get()) != 0) {
      const int cause = errno;
      ::unlink(temporary.c_str());
      return environment_error(place, "cannot be written: {}", std::strerror(cause));
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int cause = errno;
    ::unlink(temporary.c_str());
    return environment_error(place, "cannot be written: {}", std::strerror(cause));
  }
  if (const Descriptor parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); parent)
    ::fsync(parent.get());
  return {};
}

} // namespace

Result<std::string> read_file(const fs::path& path, std::size_t max_bytes) {
  const Place place{path.string()};
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return user_error(place, "cannot be opened: {}", std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return user_error(place, "is a folder, where a file was expected");
  if (!S_ISREG(status.st_mode)) return user_error(place, "is not a regular file"); // opening may have effects
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // it may be one by now
  if (!file) return user_error(place, "cannot be opened: {}", std::strerror(errno));
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return user_error(place, "is not a regular file");

  std::string bytes;
  char block[1 << 16];
  for (;;) {
    const ssize_t n = ::read(file.get(), block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return user_error(place, "cannot be read: {}", std::strerror(errno));
    if (n == 0) return bytes;
    if (bytes.size() + static_cast<std::size_t>(n) > max_bytes)
      return user_error(place, "is larger than the {} bytes that such a file may have", max_bytes);
    bytes.append(block, static_cast<std::size_t>(n));
  }
}

Result<void> write_file(const fs::path& path, std::string_view bytes) {
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  if (fs::exists(status) && !fs::is_directory(status) && !fs::is_regular_file(status))
    return write_into(path, bytes);
  if (!fs::is_symlink(path, ec)) return replace_file(path, bytes);
  const fs::path target = fs::weakly_canonical(path, ec);
  if (ec) return environment_error(Place{path.string()}, "cannot be followed: {}", ec.message());
  return replace_file(target, bytes);
}

} // namespace assay
