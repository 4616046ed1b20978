// File names on their way through NVRTC: those hidden in options, and those that come back in the PTX.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// What the user's own options add to the files that are read: -I, --include-path; -include, --pre-include.
struct OptionFiles {
  std::vector<std::filesystem::path> include_dirs;
  std::vector<std::string> included;
};
OptionFiles files_in_options(const std::vector<std::string>& options);

// NVRTC writes absolute paths into the PTX's .file directives. This puts back the paths of `files`, the
// source and what it includes, as they are written there: faults and signatures then read the same on every
// machine.
std::string with_names_as_written(std::string_view ptx, const std::vector<std::filesystem::path>& files);

} // namespace assay
