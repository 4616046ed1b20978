// Device time by the GPU's own clock: events before and after the work.
#pragma once

#include "harness/device/cuda/work.h"

#include <vector>

namespace assay::cuda {

// The seconds that the launches took together, in each of at most `repeats` runs: as many as fit in about a
// second, at least one, after a few that are not counted. Before each run a memory larger than every cache is
// written, which leaves nothing of the buffers in them; meanwhile the run is queued, so that no launch waits
// for the host.
Reply time_work(const Driver& driver, const Work& work, int repeats, std::vector<double>& seconds);

// Bytes read and written a second by the best of several copies of a buffer larger than every cache.
Reply time_copy(const Driver& driver, double& bytes_per_second);

} // namespace assay::cuda
