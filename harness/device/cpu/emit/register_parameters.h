// Rewrites parameters and results in registers, which older PTX and hand-written PTX have, into .param
// variables, so that later passes meet one kind of call.
#pragma once

#include "harness/device/cpu/ptx/ast.h"

namespace assay::cpu {

// In functions that declare .reg parameters, and at calls that name registers or literals.
void pass_in_variables(ptx::Module& module);

} // namespace assay::cpu
