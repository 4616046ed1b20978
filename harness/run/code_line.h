// Which line of a user's header an address in its shared object was made from.
#pragma once

#include <filesystem>
#include <span>

namespace assay {

struct UserCode;

// Of frames, innermost first, each an address that is returned to: the line of the first that stands in the
// header, also inlined; 0 where none does, or where there is no symbolizer.
int line_in_code(const UserCode& code, std::span<void* const> frames);

// llvm-symbolizer beside a compiler; empty where there is none.
std::filesystem::path symbolizer_beside(const std::filesystem::path& compiler);

} // namespace assay
