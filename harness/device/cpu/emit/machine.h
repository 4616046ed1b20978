// LLVM's just-in-time compiler, set up for the host.
#pragma once

#include "harness/base/error.h"
#include "harness/device/cpu/emit/code_cache.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace assay::cpu {

bool host_has_avx512(); // F, DQ, BW and VL

class Machine {
 public:
  static Result<std::unique_ptr<Machine>> make();

  // Before emission: what the module must say about its target.
  void prepare(llvm::Module& module) const;
  // What the code knows by name: addresses of this process.
  Result<void> define(const std::vector<std::pair<std::string, const void*>>& symbols);
  // Verifies (an error is our own bug), optimises and compiles, or takes the code from the cache where it was
  // made before. `may_keep` is asked, after compiling, whether the code may be stored.
  Result<void> add(llvm::Module& module, const ContentCache& cache, const std::function<bool()>& may_keep,
                   const std::function<void(const std::string&)>& on_ir);
  Result<void*> find(const std::string& symbol);

 private:
  Result<std::unique_ptr<llvm::MemoryBuffer>> compile(llvm::Module& module,
                                                      const std::function<void(const std::string&)>& on_ir);

  std::unique_ptr<llvm::TargetMachine> target_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

} // namespace assay::cpu
