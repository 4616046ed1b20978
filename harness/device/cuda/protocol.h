// The requests to the process that drives a GPU, and its answers. Bulk data lies in memory that both map.
#pragma once

#include "harness/device/cuda/driver.h"
#include "harness/device/cuda/message.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::cuda {

inline constexpr std::size_t world_capacity = std::size_t{2} << 30;     // bytes of an arena
inline constexpr std::size_t blob_capacity = std::size_t{256} << 20;    // of a program
inline constexpr std::size_t staging_capacity = std::size_t{256} << 20; // of a batch

// The world whose modules count their basic blocks: run beside the others, never judged. It has no memory
// here.
inline constexpr std::uint32_t counting_world = 2;

// Reserved as a whole, taken from the machine page by page as it is used.
class SharedMemory {
 public:
  SharedMemory(); // environment's fault where it fails: then valid() is false
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  bool valid() const { return base_ != nullptr; }
  std::byte* world(std::size_t index) const { return base_ + index * world_capacity; }
  std::byte* blob() const { return base_ + 2 * world_capacity; }
  std::byte* staging() const { return blob() + blob_capacity; }

 private:
  std::byte* base_ = nullptr;
};

enum class MessageKind : std::uint8_t {
  answer,
  ended, // of the process: how, in words
};

struct GpuFacts {
  int process = 0; // that drives it
  std::array<char, 128> name{};
  int driver = 0; // 13000 is CUDA 13.0
  int devices = 0;
  int compute_major = 0, compute_minor = 0, multiprocessors = 0;
  std::array<int, 3> max_grid{}, max_block{};
  int max_block_threads = 0, max_shared = 0; // of a block; shared memory with opt-in
};

enum class Request : std::uint32_t {
  compile, // the blob is PTX; becomes a cubin
  load,    // the blob is a cubin; becomes a module of one world, in place of one loaded before
  run,
  time,       // a WorkRequest; seconds of each run
  copy_speed, // bytes a second
  graph,      // a WorkRequest: both arenas here become what two replays of a graph leave
  open_batch, // a BatchOrder; the staging memory begins with what is common to all cases
  batch,      // as many cases (8 bytes) of it, timed or not (1 byte); seconds of each step, if timed
};

// Where a request ended.
enum class Stage : std::uint32_t {
  done,
  memory,   // the GPU has no room
  compile,  // the driver's compiler refused
  transfer, // load, copy: nothing that a kernel does wrong
  launch,   // the launch was refused; nothing has run
  run,      // the kernel did something that ended the context
};

struct Reply {
  Stage stage = Stage::done;
  Status status = success;
  std::string text; // the driver's words, or the compiler's log

  void put(Writer& out) const;
  static Reply take(Reader& in);
};

struct FunctionFacts {
  int max_threads = 0, static_shared = 0;
  std::vector<std::uint32_t> param_bytes;
};

struct Parameter {
  std::uint64_t bits = 0;
  std::uint8_t in_arena = 0; // bits is an offset there
};

struct GpuLaunch {
  std::uint32_t module = 0, function = 0; // module: what `load` named; function: index in its entries
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t shared_bytes = 0;
  std::vector<Parameter> parameters;

  void put(Writer& out) const;
  static GpuLaunch take(Reader& in);
};

// One world's part of a run: perhaps its arena goes to the GPU, its launches run, its arena comes back. The
// counting world's arena is the first one's, and what comes back, in the blob, are the counters of its
// module.
struct WorldRun {
  std::uint32_t world = 0;
  std::uint32_t dirt = 0; // what shared memory holds before each launch
  bool upload = false;
  std::vector<GpuLaunch> launches;

  void put(Writer& out) const;
  static WorldRun take(Reader& in);
};

// Bytes of the arena that are zero before a case's first launch.
struct Clear {
  std::size_t offset = 0, bytes = 0;
};

// A case to be run again and again, with neither dirt in shared memory nor its arena brought back.
struct WorkRequest {
  WorldRun run;
  std::size_t arena_bytes = 0;
  std::vector<Clear> clears;
  int repeats = 0; // of a timing

  void put(Writer& out) const;
  static WorkRequest take(Reader& in);
};

} // namespace assay::cuda
