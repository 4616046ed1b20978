#include "harness/base/memory_file.h"

#include "harness/base/check.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace assay {

MemoryFile::MemoryFile() : fd_(::memfd_create("child", MFD_CLOEXEC)) {
  ASSAY_CHECK(fd_ >= 0, "memfd_create: {}", std::strerror(errno));
}

MemoryFile::~MemoryFile() { ::close(fd_); }

bool MemoryFile::append(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t size = ::write(fd_, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

bool MemoryFile::rewind() const { return ::lseek(fd_, 0, SEEK_SET) == 0; }

std::string MemoryFile::contents() const {
  std::string text;
  std::array<char, 1 << 16> block;
  for (ssize_t size; (size = ::pread(fd_, block.data(), block.size(), static_cast<off_t>(text.size()))) > 0;)
    text.append(block.data(), static_cast<std::size_t>(size));
  return text;
}

} // namespace assay
