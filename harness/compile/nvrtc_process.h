// NVRTC in a process of its own: no source makes it take for ever, take all memory, or take Assay with it.
#pragma once

#include "harness/compile/nvrtc_library.h"

#include <chrono>
#include <string_view>

namespace assay {

// How long one compilation may take, in processor time: $ASSAY_COMPILE_SECONDS, else two minutes.
std::chrono::seconds compile_limit();

// "ASSAY_COMPILE_SECONDS allows more": for the message of one that took longer.
extern const std::string_view how_to_raise_compile_limit;

// run_nvrtc in a fork: the library is loaded already, so this costs a fork, of some milliseconds. Errors
// beside run_nvrtc's own: a user error where the source takes NVRTC more than compile_limit() or 4 GiB, or
// crashes it.
Result<NvrtcOutput> run_nvrtc_apart(const NvrtcLibrary& library, const std::string& source,
                                    const std::string& name,
                                    const std::vector<std::pair<std::string, std::string>>& headers,
                                    const std::vector<std::string>& expressions,
                                    const std::vector<std::string>& options);

} // namespace assay
