#include "harness/device/cpu/emit/code_cache.h"

#include "harness/base/hash.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/raw_ostream.h>

namespace assay::cpu {

std::string code_key(const llvm::Module& module, const llvm::TargetMachine& target,
                     std::string_view settings) {
  llvm::SmallString<0> bitcode;
  llvm::raw_svector_ostream out(bitcode);
  llvm::WriteBitcodeToFile(module, out);
  return content_hash(fmt::format("{} {} {} {}\n{}\n{}", LLVM_VERSION_STRING, target.getTargetTriple().str(),
                                  target.getTargetCPU().str(), target.getTargetFeatureString().str(),
                                  settings, std::string_view(bitcode.data(), bitcode.size())));
}

} // namespace assay::cpu
