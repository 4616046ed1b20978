// A file in memory, for what passes between this process and a child: neither side waits for the other.
#pragma once

#include <string>
#include <string_view>

namespace assay {

class MemoryFile {
 public:
  MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  int fd() const { return fd_; }
  bool append(std::string_view bytes) const; // false: no memory
  bool rewind() const;                       // whoever reads it next begins at the start
  std::string contents() const;

 private:
  int fd_;
};

} // namespace assay
