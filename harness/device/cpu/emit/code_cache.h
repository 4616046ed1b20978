// Machine code on disk, so that a process that runs a kernel known from before need not make it again. What
// is stored answers for the very IR that it was made of, on the same processor, by the same LLVM and
// settings; a file that does not check out in any way is a miss.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <filesystem>
#include <memory>
#include <string>

namespace assay::cpu {

class CodeCache {
 public:
  explicit CodeCache(std::filesystem::path folder) : folder_(std::move(folder)) {} // empty: none

  bool enabled() const { return !folder_.empty(); }

  // `settings`: everything but the IR and the target that the code depends on.
  static std::string key(const llvm::Module& module, const llvm::TargetMachine& target,
                         std::string_view settings);

  std::unique_ptr<llvm::MemoryBuffer> load(const std::string& key) const; // null: not there
  // Written whole or not at all; where it cannot be written, that costs time alone.
  void store(const std::string& key, const llvm::MemoryBuffer& object) const;

 private:
  std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path folder_;
};

} // namespace assay::cpu
