// Where NVRTC and the CUDA headers are. Looked for, in this order, the first complete place wins:
//   $CUDA_HOME, $CUDA_PATH, /usr/local/cuda      a toolkit (lib64 or lib, include)
//   the dynamic loader's path                    libnvrtc.so.N, headers in ../include beside it
//   the build folder's cuda/                     NVIDIA's wheels, unpacked there by tools/assay
// ASSAY_IGNORE_TOOLKIT=1 leaves only the last (tools/setup.sh reads it too). NVRTC before 12 is not taken.
#pragma once

#include "harness/base/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

struct Toolkit {
  std::filesystem::path library;                   // libnvrtc.so.N
  std::vector<std::filesystem::path> include_dirs; // cuda_runtime.h, cuda/std/...
};

// The roots to look in, each with include/ and lib64/ or lib/ below it.
std::vector<std::filesystem::path> toolkit_roots();

// An environment error that says what is missing where and what to install.
Result<Toolkit> find_toolkit(const std::vector<std::filesystem::path>& roots = toolkit_roots());

} // namespace assay
