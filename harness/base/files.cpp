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

} // namespace

Result<std::string> read_file(const fs::path& path, std::size_t max_bytes) {
  const Place place{path.string()};
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return user_error(place, "cannot be opened: {}", std::strerror(errno));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return user_error(place, "cannot be read: {}", std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return user_error(place, "is a folder, where a file was expected");

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

} // namespace assay
