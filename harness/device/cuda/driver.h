// CUDA's driver API as a table of entry points, found at run time: a program that uses it starts where there
// is no driver, and tests put a table of their own in its place. Names and types as CUDA has them; a handle
// is void*, a device's number int.
#pragma once

#include "harness/base/error.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace assay::cuda {

using Status = int; // CUresult
using Address = std::uint64_t;

inline constexpr Status success = 0;

// CUdevice_attribute, CUfunction_attribute, CUjit_option, CUjitInputType: what of them is used here.
namespace attribute {
inline constexpr int max_block_threads = 1, max_block_x = 2, max_grid_x = 5, multiprocessors = 16,
                     compute_major = 75, compute_minor = 76, max_shared_opt_in = 97;
}
namespace function_attribute {
inline constexpr int max_block_threads = 0, static_shared = 1, max_dynamic_shared = 8;
}
namespace jit {
inline constexpr int error_log = 5, error_log_bytes = 6;
inline constexpr int input_ptx = 1;
} // namespace jit
inline constexpr unsigned stream_does_not_wait = 1; // CU_STREAM_NON_BLOCKING: for the default stream
inline constexpr int capture_of_this_thread = 1;    // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
inline constexpr unsigned event_without_time = 2;   // CU_EVENT_DISABLE_TIMING

// CUDA_KERNEL_NODE_PARAMS, as of CUDA 12: a launch, in a graph or not.
struct KernelLaunch {
  void* function = nullptr;
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  void** parameters = nullptr; // to the value of each
  void** extra = nullptr;
  void *kernel = nullptr, *context = nullptr;
};

struct Driver {
  Status (*init)(unsigned) = nullptr;
  Status (*version)(int*) = nullptr;
  Status (*device_count)(int*) = nullptr;
  Status (*device)(int*, int) = nullptr;
  Status (*device_name)(char*, int, int) = nullptr;
  Status (*device_attribute)(int*, int, int) = nullptr;
  Status (*retain_context)(void**, int) = nullptr; // the device's primary context
  Status (*set_context)(void*) = nullptr;
  Status (*error_name)(Status, const char**) = nullptr;
  Status (*error_text)(Status, const char**) = nullptr;
  Status (*link_create)(unsigned, int*, void**, void**) = nullptr;
  Status (*link_add)(void*, int, void*, std::size_t, const char*, unsigned, int*, void**) = nullptr;
  Status (*link_complete)(void*, void**, std::size_t*) = nullptr;
  Status (*link_destroy)(void*) = nullptr;
  Status (*load_module)(void**, const void*, unsigned, int*, void**) = nullptr;
  Status (*unload_module)(void*) = nullptr;
  Status (*function)(void**, void*, const char*) = nullptr;
  Status (*function_attribute)(int*, int, void*) = nullptr;
  Status (*set_function_attribute)(void*, int, int) = nullptr;
  Status (*parameter_info)(void*, std::size_t, std::size_t*, std::size_t*) = nullptr;
  Status (*variable)(Address*, std::size_t*, void*, const char*) = nullptr; // of a module
  Status (*allocate)(Address*, std::size_t) = nullptr;
  Status (*release)(Address) = nullptr;
  Status (*pin)(void*, std::size_t, unsigned) = nullptr; // host memory, for faster copies
  Status (*unpin)(void*) = nullptr;
  Status (*to_device)(Address, const void*, std::size_t) = nullptr;
  Status (*to_host)(void*, Address, std::size_t) = nullptr;
  Status (*fill)(Address, unsigned char, std::size_t) = nullptr;
  // In the order of the launches, without waiting; host memory that is not pinned waits all the same.
  Status (*queue_to_device)(Address, const void*, std::size_t, void*) = nullptr;
  Status (*queue_to_host)(void*, Address, std::size_t, void*) = nullptr;
  Status (*queue_copy)(Address, Address, std::size_t, void*) = nullptr; // to, from
  Status (*queue_fill)(Address, unsigned char, std::size_t, void*) = nullptr;
  Status (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**) = nullptr;
  Status (*synchronize)() = nullptr;
  Status (*stream_create)(void**, unsigned) = nullptr;
  Status (*stream_destroy)(void*) = nullptr;
  Status (*stream_synchronize)(void*) = nullptr;
  Status (*stream_wait)(void*, void*, unsigned) = nullptr; // stream, event
  Status (*event_create)(void**, unsigned) = nullptr;
  Status (*event_destroy)(void*) = nullptr;
  Status (*event_record)(void*, void*) = nullptr;          // event, stream
  Status (*event_elapsed)(float*, void*, void*) = nullptr; // milliseconds between two that were reached
  Status (*begin_capture)(void*, int) = nullptr;           // what is queued on this stream becomes a graph
  Status (*end_capture)(void*, void**) = nullptr;          // stream, graph
  Status (*graph_create)(void**, unsigned) = nullptr;
  // The new node, the graph, the nodes that it waits for and how many they are.
  Status (*graph_add_kernel)(void**, void*, void* const*, std::size_t, const KernelLaunch*) = nullptr;
  // In an executable graph, of the node that this one of its graph became.
  Status (*graph_set_kernel)(void*, void*, const KernelLaunch*) = nullptr;
  Status (*instantiate)(void**, void*, unsigned long long) = nullptr; // an executable graph
  Status (*launch_graph)(void*, void*) = nullptr;                     // executable graph, stream
  Status (*destroy_graph)(void*) = nullptr;
  Status (*destroy_executable)(void*) = nullptr;
};

// libcuda.so.1. Environment error: none on this machine, or one that lacks these functions (CUDA 12.4 has
// them).
Result<const Driver*> load_driver();

// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
std::string error_text(const Driver& driver, Status status);

} // namespace assay::cuda
