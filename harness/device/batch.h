// Devices that run many cases of one plan side by side, each in a slot of memory of its own: CUDA. A device
// that offers it derives from this beside Device; who can use it asks by dynamic_cast.
//
// A batch runs in waves. The memory of a wave: `cases` slots, then `twins` more (slot cases + k is the twin
// of case k, for a second run from other poison and, where the kernel uses any, dirtied shared memory);
// scratch; and the results, an array each, one element a slot, every bit of them set before the first step.
// Several waves may be under way at once, each with memory of its own.
#pragma once

#include "harness/device/device.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct BatchArgument {
  enum class Area : std::uint8_t {
    value,   // `bits` itself, of `size` bytes
    common,  // a pointer, `bits` bytes into what all cases share
    given,   // into what is given for the cases: the wave's first case
    slot,    // into the case's own slot, where the step runs case by case; else into the wave's first slot
    scratch, // into the wave's scratch
    results, // the wave's first element of array number `bits`
    cases,   // the wave's cases, 4 bytes: the last wave may have fewer
  };
  Area area = Area::value;
  std::uint64_t bits = 0;
  std::uint8_t size = 8; // bytes of a value: 1, 2, 4 or 8
};

struct BatchStep {
  enum class Over : std::uint8_t {
    each,   // a launch for each slot, twins too: the kernel on trial
    slots,  // one launch, grid.x times the wave's cases and twins
    cases,  // one launch, grid.x times the wave's cases
    twins,  // one launch, grid.x times the wave's twins; none where it has no twins
    blocks, // one launch of grid.x blocks, or as many as the wave has cases if that is less
  };
  Over over = Over::each;
  std::shared_ptr<Program> program; // of this device
  std::string entry;
  Dim3 grid{}, block{};
  std::uint64_t shared_bytes = 0; // dynamic
  std::vector<BatchArgument> args{};
};

struct Batch {
  std::vector<std::byte> common;           // 256-byte aligned on the device, like every area and array
  std::size_t given_bytes = 0;             // of a case
  std::size_t slot_bytes = 0;              // a multiple of 256
  std::size_t scratch_bytes = 0;           // of a wave
  std::vector<std::size_t> result_bytes{}; // of an element of each array
  std::uint32_t wave_cases = 1;
  std::uint32_t wave_twins = 0;   // at most wave_cases; of a last, smaller wave at most its cases
  std::vector<BatchStep> steps{}; // in order; of steps over `each` that follow one another the order holds
                                  // within a slot, and slots run side by side
};

struct BatchOutcome {
  bool done = false; // false: a launch was refused, did what ends a context, or did not come back in time;
  std::string why{}; // then nothing is known of any case of the batch, and this says why, in one line
  std::vector<std::vector<std::byte>> results{}; // of each array, an element a case
  // Of each step, all waves together, where asked for. Steps over `each` that follow one another count as the
  // first of them.
  std::vector<double> step_seconds{};
};

class BatchDevice {
 public:
  virtual ~BatchDevice() = default;

  // What to make machine code for, where it takes more than PTX: "sm_90".
  virtual std::string machine() const { return {}; }

  // What submit() will run until the next open_batch(). User error, of which the cases one by one may know
  // nothing: a wave does not fit into the memory that there is for batches, a launch is over a limit, a
  // program may write variables of its module or allocates memory. Forgets no program and no buffer of
  // Device.
  virtual Result<void> open_batch(const Batch& batch) = 0;
  // Begins to run as many cases (at least one) as `given` holds the bytes of. Nothing else may be asked of
  // the device before collect(). timed: one wave at a time and each step between events, to say where the
  // time goes. User error: more than can be given or come back at once.
  virtual Result<void> submit(std::span<const std::byte> given, std::size_t cases, bool timed = false) = 0;
  // Waits for the end. The device can be used again whatever it says.
  virtual Result<BatchOutcome> collect() = 0;
};

} // namespace assay
