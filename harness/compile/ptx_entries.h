// The entries of a PTX text, and how a user may name them.
#pragma once

#include "harness/base/error.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Names of all .entry functions, in order. The text may be anything; what is not PTX has no entries.
std::vector<std::string> ptx_entries(std::string_view ptx);

// "_Z7softmaxIfEvPT_S1_i" -> "softmax<float>": demangled, without return type and parameter list. A name that
// is not mangled is itself.
std::string entry_display_name(const std::string& entry);

// The entry that `name` means: an entry's own name, or a display name (spaces do not matter) that only one
// entry has. A user error at `file` otherwise, which lists what there is.
Result<std::string> find_entry(const std::vector<std::string>& entries, const std::string& name,
                               const std::string& file);

} // namespace assay
