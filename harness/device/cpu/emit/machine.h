// LLVM's just-in-time compiler, set up for the host.
#pragma once

#include "harness/base/error.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/ThreadSafeModule.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <memory>
#include <string>

namespace assay::cpu {

bool host_has_avx512(); // F, DQ, BW and VL

class Machine {
 public:
  static Result<std::unique_ptr<Machine>> make();

  // Before emission: what the module must say about its target.
  void prepare(llvm::Module& module) const;
  // Verifies (an error is our own bug), optimises and adds to the code.
  Result<void> add(llvm::orc::ThreadSafeModule code, const std::function<void(const std::string&)>& on_ir);
  Result<void*> find(const std::string& symbol);

 private:
  std::unique_ptr<llvm::TargetMachine> target_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

} // namespace assay::cpu
