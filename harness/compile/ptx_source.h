// PTX text and where it came from: what every route (NVRTC, a .ptx file, MLIR) ends in and every device
// starts from.
#pragma once

#include <map>
#include <string>

namespace assay {

struct PtxSource {
  std::string text;
  std::string
      origin; // what the user wrote: "kernels/softmax/softmax.cu"; names the PTX itself for a .ptx source
  std::map<std::string, std::string>
      entries; // name expression -> mangled entry ("softmax<float>" -> "_Z7softmaxIfE...")
};

} // namespace assay
