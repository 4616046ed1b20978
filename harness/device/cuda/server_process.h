// Starts, asks and ends the processes that drive a GPU (server.h), one after another.
//
// CUDA works in a forked child only where nobody has initialised it in the parent, and NVRTC does that too.
// So the first fork is made at once and never touches a GPU; every process that drives one is a fork of it,
// and when such a process has ended, it says how.
#pragma once

#include "harness/device/cuda/protocol.h"

#include <chrono>
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
  // To be made before the program uses CUDA or NVRTC. All three must outlive it.
  ServerProcess(const Driver& driver, int ordinal, const SharedMemory& memory);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();

  bool running() const { return pid_ > 0; }
  // Environment error: the GPU cannot be opened.
  Result<GpuFacts> start();
  // Sends a request.
  void tell(const Writer& request) const;
  // Waits for the answer to it. After anything but `yes` the process is gone.
  Answered receive(std::chrono::milliseconds limit, std::string& answer);
  Answered ask(const Writer& request, std::chrono::milliseconds limit, std::string& answer) {
    tell(request);
    return receive(limit, answer);
  }
  void stop();
  const std::string& last_words() const { return last_words_; } // how it ended: "killed by signal 11"

 private:
  bool take_message(std::string& message); // false: it is of the end of the process
  void end_all();

  pid_t starter_ = -1; // the first fork
  pid_t pid_ = -1;     // the one that drives the GPU
  int socket_ = -1;    // both answer on it
  std::string last_words_;
};

// How many GPUs the driver shows, asked in a process of its own the first time; 0 where there is no driver.
int visible_gpus();

} // namespace assay::cuda
