// Devices that can put the launches of a case into a graph and replay it as one: CUDA. A device that offers
// it derives from this beside Device; who asks does so by dynamic_cast.
#pragma once

#include "harness/device/device.h"

#include <span>
#include <string>

namespace assay {

class GraphReplay {
 public:
  virtual ~GraphReplay() = default;

  struct Outcome {
    std::string broken;      // one line: it cannot be captured, a replay ends in a fault, other results
    bool other_bits = false; // that is what broke it
    bool steady = true;      // false: plain launches already differ from run to run, so bits tell nothing
  };

  // Captures what a launcher queues, the clears of buffers that start at zero and the launches, and replays
  // it twice, the second time on what the first left in memory. Each must give every output the bits that
  // plain launches give it on buffers as allocated. Nothing may have been launched since those were; they are
  // as allocated afterwards. Errors: as of Device::launch.
  virtual Result<Outcome> replay_in_graph(Program& program, std::span<const LaunchSpec> launches) = 0;
};

} // namespace assay
