// CUDA C++ programs that the CPU device must run as a GPU does, or refuse clearly: programs/*.cu. Each says
// in its first lines, "//! key values", what to do with its kernel `test(unsigned* out)`:
//
//   //! launch grid=2 block=64 words=128     out has `words` elements; also budget=N basic blocks a warp
//   //! arch compute_80 compute_90           default: compute_75 compute_90
//   //! expect i * i + 1                     out[i], an integer expression (cases/expression.h), modulo 2^32
//   //! prints TEXT                          among what the kernel prints
//   //! fault KIND TEXT                      the launch reports such a fault, whose message holds TEXT
//   //! unsupported TEXT                     loading is refused as the environment's, with TEXT
//
// A program that names RIGHT shows a fault and has a right twin: with that macro defined it has none, and
// gives what is expected.
#pragma once

#include "harness/base/error.h"
#include "harness/device/device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::ptx_tests {

struct CudaProgram {
  std::string path, text;
  std::vector<std::string> architectures{"compute_75", "compute_90"};
  std::uint64_t grid = 1, block = 1, words = 1, budget = 0;
  std::string expect, prints, fault_kind, fault_text, unsupported;

  bool has_twin() const {
    return text.find("#ifdef RIGHT") != std::string::npos || text.find("#ifndef RIGHT") != std::string::npos;
  }
};

Result<CudaProgram> read_program(const std::string& path);

// Compiles for one architecture and runs; an empty string where all is as the program says, else what is not.
// `twin`: with RIGHT defined.
Result<std::string> run_program(const CudaProgram& program, const std::string& architecture, Device& device,
                                std::uint64_t seed, bool twin);

} // namespace assay::ptx_tests
