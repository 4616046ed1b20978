// Where kernels run. One interface for the CPU device and for CUDA; it knows buffers, programs and launches,
// and nothing about operators, cases or verdicts. What a kernel does wrong is reported as faults, never as a
// crash.
#pragma once

#include "harness/base/error.h"
#include "harness/compile/ptx_source.h"
#include "harness/numerics/dtype.h"
#include "harness/numerics/signature.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace assay {

enum class BufferRole : std::uint8_t {
  input,   // the kernel may only read it; a write is reported as input_modified
  output,  // every element that `shape` and `strides` name must be written
  scratch, // the kernel's own
};

struct BufferSpec {
  std::string name{}; // for messages
  BufferRole role = BufferRole::scratch;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape{};
  std::vector<std::int64_t> strides{}; // in elements; empty: dense row-major
  std::size_t offset = 0;              // bytes by which the pointer is off its 256-byte alignment
  bool initialized = true;             // false: starts poisoned, and reads of what nobody wrote are seen
};

enum class BufferId : std::uint32_t {};

struct Scalar {
  std::uint64_t bits = 0;
  std::uint8_t size = 4; // bytes: 1, 2, 4 or 8
};

using Argument = std::variant<BufferId, Scalar>;

struct Dim3 {
  std::uint64_t x = 1, y = 1, z = 1;
};

struct LaunchSpec {
  std::string entry{}; // the PTX entry's (mangled) name
  Dim3 grid{}, block{};
  std::uint64_t shared_bytes = 0; // dynamic
  std::vector<Argument> args{};
  std::uint64_t schedule_seed = 0; // CPU device: in which order blocks and warps run
  std::uint64_t step_budget = 0;   // CPU device: basic blocks a warp may execute; 0: the device's default
};

// One thing that a kernel did wrong. Faults of one launch are distinct in (kind, buffer, place).
struct Fault {
  Kind kind = Kind::out_of_bounds;
  std::string buffer;  // whose memory; "shared", "local"; empty where none is meant
  Place place;         // source line through -lineinfo; else the PTX line (file ends in .ptx)
  std::string message; // one line: what, which element, by which thread of which block
  bool note = false;   // told, but no finding: two threads that store the same value
};

struct LaunchReport {
  std::vector<Fault> faults; // empty: nothing seen
  std::uint64_t steps = 0;   // executed basic blocks, all warps
};

// Parameters of an entry as the PTX declares them.
struct EntryInfo {
  std::string name;                       // mangled
  std::vector<std::uint32_t> param_bytes; // size of each parameter
  std::uint64_t static_shared_bytes = 0;
  std::array<std::uint32_t, 3> required_block{}; // .reqntid; 0: none
  std::uint32_t max_block_threads = 1024;        // .maxntid or the hardware's
};

class Program {
 public:
  virtual ~Program() = default;
  virtual const std::vector<EntryInfo>& entries() const = 0;
};

// Device-code coverage of the launches since it was last cleared, for libFuzzer.
struct Coverage {
  std::span<std::uint8_t> counters; // one a basic block, saturating
};

// Integer comparisons in device code: called with the operands of the first active lane.
using CompareHook = void (*)(std::uint64_t site, std::uint64_t a, std::uint64_t b, unsigned bits);

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0; // "cpu", "cuda:0 (NVIDIA H200)"

  // Compiles PTX for this device. Unsupported instruction: an environment error with the PTX line. Malformed
  // PTX: a user error with the line.
  virtual Result<std::shared_ptr<Program>> load(const PtxSource& source) = 0;

  // A buffer that holds `bytes` (its dense elements are laid out by spec.strides; empty span: poison or
  // zeros).
  virtual Result<BufferId> allocate(const BufferSpec& spec, std::span<const std::byte> dense) = 0;
  virtual void fill_zero(BufferId buffer) = 0;
  // Forgets every buffer and what the checks know about memory.
  virtual void release_all() = 0;

  // Runs one grid to its end, or to its first fatal fault. Checks limits first (fault kind `launch`).
  virtual Result<LaunchReport> launch(Program& program, const LaunchSpec& spec) = 0;

  // The dense elements of a buffer, in row-major order.
  virtual Result<void> read(BufferId buffer, std::span<std::byte> dense) = 0;
  // Dense indices of elements of an output that no launch wrote since allocation (at most `limit`,
  // ascending), and whether an input's bits changed.
  virtual std::vector<std::int64_t> unwritten(BufferId buffer, std::size_t limit) const = 0;

  virtual Coverage coverage() = 0;
  virtual void set_compare_hook(CompareHook hook) = 0;
};

} // namespace assay
