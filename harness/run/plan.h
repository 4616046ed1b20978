// One case of one kernel with every size worked out: what will be allocated and launched.
#pragma once

#include "harness/cases/case.h"
#include "harness/device/device.h"
#include "harness/ops/op.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace assay {

struct PlannedTensor {
  const TensorInfo* info = nullptr;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides; // in elements; empty: dense
  std::int64_t offset = 0;           // elements
  bool present = false;              // has a buffer in this pass
  bool tested = false;               // an output or gradient of this pass that a launch names
};

struct PlannedScratch {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  bool zero = false;
};

struct TensorArgument {
  std::size_t index = 0; // in Plan::tensors
};
struct ScratchArgument {
  std::size_t index = 0; // in Plan::scratch
};
using PlannedArgument = std::variant<TensorArgument, ScratchArgument, Scalar>;

struct PlannedLaunch {
  Pass pass = Pass::forward;
  std::string name; // of the kernel, as compiled: "softmax<float>"
  std::string entry;
  Dim3 grid, block;
  std::uint64_t shared_bytes = 0;
  std::vector<PlannedArgument> args;
};

struct Plan {
  Pass pass = Pass::forward;
  DType dtype = DType::f32;
  std::vector<std::int64_t> dims;     // in OpInfo order
  std::vector<double> params;         // in OpInfo order, rounded to each param's type
  std::vector<PlannedTensor> tensors; // in OpInfo order
  std::vector<PlannedScratch> scratch;
  std::vector<PlannedLaunch> launches; // forward ones, then for a backward case the backward ones
  std::shared_ptr<Program> program;
  bool keeps_state = false; // a launch may leave something for the next in variables of the module
  std::uint64_t device_bytes = 0;
};

} // namespace assay
