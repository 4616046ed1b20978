// Starts, asks and ends the process that drives a GPU (server.h).
#pragma once

#include "harness/device/cuda/protocol.h"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>

namespace assay::cuda {

enum class Answered : std::uint8_t {
  yes,
  too_late, // the process has been killed
  died,
};

class ServerProcess {
 public:
  // memory must outlive the process. Environment error: the GPU cannot be opened.
  static Result<ServerProcess> start(const Driver& driver, int ordinal, const SharedMemory& memory,
                                     GpuFacts& facts);
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&& other) noexcept;
  ~ServerProcess() { stop(); }

  // Sends a request and waits for its answer. After anything but `yes` the process is gone.
  Answered ask(const Writer& request, std::chrono::milliseconds limit, std::string& answer);
  void stop();
  const std::string& last_words() const { return last_words_; } // how it ended: "killed by signal 11"

 private:
  ServerProcess(pid_t pid, int socket) : pid_(pid), socket_(socket) {}
  Answered receive(std::chrono::milliseconds limit, std::string& answer);

  pid_t pid_ = -1;
  int socket_ = -1;
  std::string last_words_;
};

// How many GPUs the driver shows, asked in a process of its own; 0 where there is no driver.
int visible_gpus();

} // namespace assay::cuda
