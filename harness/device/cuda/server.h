// The process that drives a GPU: it answers requests until its socket closes. It is a fork
// (server_process.h), so that whatever a kernel does to its context (an illegal address, a trap, a loop
// without end) ends with this process and leaves the asking one as it was.
#pragma once

#include "harness/device/cuda/protocol.h"

namespace assay::cuda {

// First of all sends a Reply, and GpuFacts where the GPU could be opened.
[[noreturn]] void serve(const Driver& driver, int ordinal, int socket, const SharedMemory& memory);

} // namespace assay::cuda
