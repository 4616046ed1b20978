#include "harness/device/cpu/emit/code_cache.h"

#include "harness/base/files.h"
#include "harness/base/hash.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/raw_ostream.h>

namespace assay::cpu {
namespace {

constexpr std::string_view magic = "assay-code 1 "; // then the hash of all that follows its line

} // namespace

std::string CodeCache::key(const llvm::Module& module, const llvm::TargetMachine& target,
                           std::string_view settings) {
  llvm::SmallString<0> bitcode;
  llvm::raw_svector_ostream out(bitcode);
  llvm::WriteBitcodeToFile(module, out);
  return content_hash(fmt::format("{} {} {} {}\n{}\n{}", LLVM_VERSION_STRING, target.getTargetTriple().str(),
                                  target.getTargetCPU().str(), target.getTargetFeatureString().str(),
                                  settings, std::string_view(bitcode.data(), bitcode.size())));
}

std::filesystem::path CodeCache::file_of(const std::string& key) const {
  return folder_ / "code" / key.substr(0, 2) / (key + ".o");
}

std::unique_ptr<llvm::MemoryBuffer> CodeCache::load(const std::string& key) const {
  const std::filesystem::path path = file_of(key);
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return nullptr;
  const auto file = read_file(path);
  if (!file || !file->starts_with(magic)) return nullptr;
  const std::size_t line = file->find('\n');
  if (line == std::string::npos) return nullptr;
  const std::string_view object = std::string_view(*file).substr(line + 1);
  if (std::string_view(*file).substr(magic.size(), line - magic.size()) != content_hash(object))
    return nullptr;
  return llvm::MemoryBuffer::getMemBufferCopy({object.data(), object.size()}, key);
}

void CodeCache::store(const std::string& key, const llvm::MemoryBuffer& object) const {
  const std::string_view bytes(object.getBufferStart(), object.getBufferSize());
  const auto ignored = write_file(file_of(key), fmt::format("{}{}\n{}", magic, content_hash(bytes), bytes));
  (void)ignored;
}

} // namespace assay::cpu
