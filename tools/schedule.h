// Whose turn it is, when several kernels share a campaign's time: each gets a share of worker time by its
// weight, which is larger while its search still makes progress.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay {

class Schedule {
 public:
  explicit Schedule(std::size_t kernels) : used_(kernels) {}

  // What a kernel brings to a decision.
  struct Claim {
    unsigned runnable = 0;   // workers that could run; 0: the kernel is done
    double since_news = 0.0; // worker-seconds since its search last learnt something
  };

  // 4 for ten seconds after something new, 2 until a minute after it, then 1: what has gone quiet still gets
  // a quarter of a share, for what is hard to find comes late.
  static double weight(const Claim& claim);

  // How many workers of each kernel run for the next `seconds`; together `jobs`, or as many as are runnable.
  // Those that have had the least for their weight come first.
  std::vector<unsigned> share(std::span<const Claim> claims, unsigned jobs, double seconds) const;

  // Worker-seconds that a kernel has had.
  void charge(std::size_t kernel, double seconds, const Claim& claim) {
    used_[kernel] += seconds / weight(claim);
  }

 private:
  std::vector<double> used_; // worker-seconds over weight
};

} // namespace assay
