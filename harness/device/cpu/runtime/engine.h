// Runs grids of compiled warps: blocks and warps in an order drawn from the schedule seed, fibers, shared and
// local memory, buffers, and all checks. harness/device/cpu/cpu_device.cpp joins it with the emitter to a
// Device.
#pragma once

#include "harness/device/cpu/runtime/abi.h"
#include "harness/device/device.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::cpu {

// Local memory of one thread (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
inline constexpr std::uint32_t max_local_bytes = 512u << 10;
inline constexpr std::size_t max_print_bytes = std::size_t{1} << 20;

// A static shared variable, or one of several variables in one slot, as the emitter laid it out.
struct SharedVariable {
  std::string name;
  std::uint32_t offset = 0; // in the shared window; variables are apart, so that running over one is seen
  std::uint32_t bytes = 0;
};
struct ModuleVariable {
  std::string name;
  std::uint64_t slot = 0;               // assigned by the emitter from Engine::reserve_slot
  std::vector<std::byte> initial;       // its bytes; zero-initialised variables are written out as zeros
  bool constant = false;                // .const: writes are out of bounds
  std::vector<SharedVariable> pieces{}; // the variables in it, apart from each other; none: it is one
};

// What a launch needs to know of a compiled entry.
struct CompiledEntry {
  EntryInfo info;
  WarpFunction function = nullptr;
  std::uint32_t shared_bytes = 0;        // static window including gaps
  std::uint32_t zeroed_shared_bytes = 0; // at its beginning, the system's: zeros when a block starts
  std::uint32_t dynamic_alignment = 16;  // of the extern array
  std::vector<SharedVariable> shared;
  std::vector<std::uint32_t> param_offsets; // in the param window; sizes in info.param_bytes
  std::uint32_t param_window_bytes = 0;
  std::uint64_t local_bytes = 0; // of its own variables, a thread
};

struct CompiledModule {
  std::vector<CompiledEntry> entries{};
  std::vector<ModuleVariable> variables{};
  std::vector<std::string> files{}; // .file table, by Site::source_file - 1
  std::string origin{};             // for messages without line information
  std::uint32_t block_count = 0;    // basic blocks of the module, for coverage
  std::vector<std::uint8_t> block_counters{};
};

class Engine {
 public:
  struct Checks {
    bool races = true;
    bool undefined = true;
  };
  Engine();
  ~Engine();
  void set_checks(Checks checks); // bounds are always checked

  std::uint64_t reserve_slot(); // a slot for a module variable; released with the engine

  Result<BufferId> allocate(const BufferSpec& spec, std::span<const std::byte> dense);
  void fill_zero(BufferId buffer);
  void
  release_all(); // buffers; module variables go back to their initial bytes at each first launch of a case
  Result<void> read(BufferId buffer, std::span<std::byte> dense) const;
  std::vector<std::int64_t> unwritten(BufferId buffer, std::size_t limit) const;
  std::uint64_t address_of(BufferId buffer) const; // generic, offset included

  Result<LaunchReport> launch(CompiledModule& module, const CompiledEntry& entry, const LaunchSpec& spec);
  void set_compare_hook(CompareHook hook);
  // Where vprintf writes, at most max_print_bytes a launch; null: standard error.
  void set_print_sink(std::string* sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Every extern "C" function of abi.h and math.h, for the JIT.
std::span<const RuntimeSymbol> runtime_symbols();

} // namespace assay::cpu
