#include "harness/device/cuda/fault.h"

namespace assay::cuda {

std::optional<Kind> kind_of(Status status, bool traps) {
  switch (status) {
  case 700: // ILLEGAL_ADDRESS
  case 717: // INVALID_ADDRESS_SPACE
    return Kind::out_of_bounds;
  case 716: // MISALIGNED_ADDRESS
    return Kind::misaligned;
  case 710: // ASSERT
  case 714: // HARDWARE_STACK_ERROR
  case 715: // ILLEGAL_INSTRUCTION
  case 718: // INVALID_PC
    return Kind::trap;
  case 702: // LAUNCH_TIMEOUT
    return Kind::timeout;
  case 719: // LAUNCH_FAILED
    return traps ? Kind::trap : Kind::out_of_bounds;
  default:
    return std::nullopt;
  }
}

bool is_refused_launch(Status status) {
  switch (status) {
  case 1:   // INVALID_VALUE
  case 701: // LAUNCH_OUT_OF_RESOURCES
  case 720: // COOPERATIVE_LAUNCH_TOO_LARGE
    return true;
  default:
    return false;
  }
}

} // namespace assay::cuda
