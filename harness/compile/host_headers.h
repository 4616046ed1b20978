// Stand-ins for the headers of the host's C and C++ libraries, which NVRTC does not have: enough of each that
// a .cu written for nvcc compiles unchanged. They are built on libcu++ (cuda/std) where that is small;
// <cmath> is not, since cuda/std/cmath takes 0.8 s to read.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay {

// (name, text) pairs, as NVRTC takes them.
const std::vector<std::pair<std::string, std::string>>& host_headers();

} // namespace assay
