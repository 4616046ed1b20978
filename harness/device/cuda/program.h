// A program as the CUDA device keeps it: its PTX's traits, its cubin, its entries.
#pragma once

#include "harness/device/cuda/protocol.h"
#include "harness/device/device.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::cuda {

struct PtxTraits {
  bool traps = false; // holds a trap instruction
  bool heap = false;  // allocates on the device
  bool state = false; // compile/module_state.h
};
PtxTraits traits_of(std::string_view ptx);

// The line that the driver's compiler complains of, in its log: 0 where it names none.
int line_of_log(std::string_view log);

class CudaProgram final : public Program {
 public:
  const std::vector<EntryInfo>& entries() const override { return infos; }

  std::uint32_t id = 0;
  std::string text, origin, cubin;
  std::string counting_cubin; // of the same program with block counters; empty: there is none (yet)
  bool counting_tried = false;
  std::vector<std::uint8_t> counters; // of blocks, since they were last cleared
  PtxTraits traits;
  std::vector<EntryInfo> infos;
};

} // namespace assay::cuda
