// PTX to machine code for the CPU device, one named pass after another.
#pragma once

#include "harness/base/error.h"
#include "harness/compile/ptx_source.h"
#include "harness/device/cpu/emit/code_data.h"
#include "harness/device/cpu/runtime/engine.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace assay::cpu {

struct EmitOptions {
  std::function<std::uint64_t()> reserve_slot; // a slot of the address space for each module variable
  const std::uint32_t* compare_enabled =
      nullptr; // not 0 while comparisons should tell the hook; outlives the code
  std::function<void(const std::string&)> on_ir; // sees the optimised LLVM IR; optional
  std::filesystem::path cache_dir;               // of machine code; empty: none is kept
  bool machine_code = true; // false: only what can be said of the PTX; entries have no function
};

// Code and the constant data behind it; both live with this object.
class Machine;
struct CompiledProgram {
  CompiledProgram();
  ~CompiledProgram();
  CompiledModule module;
  CodeData data;
  std::vector<std::string> large_frames; // functions that the machine's stacks do not hold
  std::unique_ptr<Machine> machine;
};

// Malformed PTX: a user error; an instruction that is not supported: an environment error; both with their
// line (ptx/source_place.h).
Result<std::unique_ptr<CompiledProgram>> compile_ptx(const PtxSource& source, const EmitOptions& options);

} // namespace assay::cpu
