#include "tools/schedule.h"

namespace assay {

double Schedule::weight(const Claim& claim) {
  return claim.since_news < 10 ? 4 : claim.since_news < 60 ? 2 : 1;
}

std::vector<unsigned> Schedule::share(std::span<const Claim> claims, unsigned jobs, double seconds) const {
  std::vector<unsigned> workers(claims.size(), 0);
  std::vector<double> used = used_;
  for (unsigned job = 0; job < jobs; ++job) {
    std::size_t next = claims.size();
    for (std::size_t kernel = 0; kernel < claims.size(); ++kernel)
      if (workers[kernel] < claims[kernel].runnable && (next == claims.size() || used[kernel] < used[next]))
        next = kernel;
    if (next == claims.size()) break;
    ++workers[next];
    used[next] += seconds / weight(claims[next]);
  }
  return workers;
}

} // namespace assay
