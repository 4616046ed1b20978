// One row of the instruction tests: a PTX snippet, inputs and the bits it must give, thread by thread. Rows
// are files (rows/*.json), so that the same ones run on every device and can be recorded on a GPU:
//
//   { "name": "add.f32 of special values",
//     "ptx": "add.rn.f32 %d0, %a0, %a1;",
//     "in": ["f32", "f32"], "out": ["f32"],
//     "threads": [["7f800000", "ff800000", "7fffffff"], ...] }
//
// A thread's line holds its inputs, then its expected outputs, as hexadecimal bit patterns. Thread k is lane
// k % 32 of warp k / 32 of one block. The snippet sees inputs as %a0, %a1, ... and leaves outputs in %d0,
// %d1, ...; %p0-%p9, %r0-%r19 (b32), %rd0-%rd19 (b64), %h0-%h9 (b16), %f0-%f9 (f32) and %g0-%g9 (f64) are
// free, shared memory is `.shared .align 16 .b8 tile[4096]`, labels are its own. "-" as an output means any
// bits; "functions" is module-level PTX before the kernel. Optional: "within_ulp" (f32 outputs: distance
// allowed), "faults" (kinds that the launch must report; default none).
#pragma once

#include "harness/base/error.h"
#include "harness/device/device.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::ptx_tests {

struct Row {
  std::string name, ptx, functions;
  std::vector<std::string> in, out;                               // PTX types
  std::vector<std::vector<std::uint64_t>> inputs;                 // by thread
  std::vector<std::vector<std::optional<std::uint64_t>>> outputs; // by thread; none: any bits
  std::uint64_t within_ulp = 0;
  std::vector<std::string> faults;
};

Result<std::vector<Row>> read_rows(const std::string& path);

std::string
kernel_of(const Row& row); // a module whose entry `row` takes the address of inputs and of outputs

// Runs the row; an empty string where it holds, else what differed.
Result<std::string> run_row(const Row& row, Device& device);

} // namespace assay::ptx_tests
