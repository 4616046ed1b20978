// What an operator's header may say wrongly without a compiler noticing.
#pragma once

#include "harness/ops/evaluation.h"

#include <optional>
#include <string>

namespace assay {

struct DeclarationFault {
  std::string word; // the name at fault as the header spells it; empty: the declaration as a whole
  std::string message;
};

// Places in dims[], tensors[] and params[], names, shapes, domains, what gradients and upstream gradients
// belong to. nullopt: nothing is wrong.
std::optional<DeclarationFault> fault_in(const Declarations& declarations);

} // namespace assay
