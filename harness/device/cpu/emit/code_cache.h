// Machine code on disk, so that a process that runs a kernel known from before need not make it again. What
// is stored answers for the very IR that it was made of, on the same processor, by the same LLVM and
// settings.
#pragma once

#include "harness/base/content_cache.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>
#include <string_view>

namespace assay::cpu {

inline ContentCache code_cache(std::filesystem::path folder) { return {std::move(folder), "code"}; }

// `settings`: everything but the IR and the target that the code depends on.
std::string code_key(const llvm::Module& module, const llvm::TargetMachine& target,
                     std::string_view settings);

} // namespace assay::cpu
