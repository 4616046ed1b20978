// A confirmed fault on one case: all that store/ and report/ need of it.
#pragma once

#include "harness/cases/case.h"
#include "harness/device/device.h"
#include "harness/numerics/signature.h"
#include "harness/run/trial.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct Finding {
  Signature signature;
  Case test_case;
  std::string message;                                    // one line
  double ratio = std::numeric_limits<double>::infinity(); // target_error / threshold of the plain gate
  double severity =
      std::numeric_limits<double>::infinity(); // target_error / threshold'; structural kinds: infinity
  double threshold = 0;                        // threshold' (confirm.h); structural kinds: 0
  double rigorous_bound = 0;
  std::string
      confirmation; // how it was confirmed: "above the rigorous bound", "14 of 16 redraws above 1", ...
  std::optional<TensorReport> tensor; // the output's quantities, where it has any
  std::int64_t element = -1;          // dense index of the wrong element; -1: not one element
  std::vector<Fault> faults;
};

} // namespace assay
