// Contracts beside the numbers that verify checks: inputs stay as they are, every output element is written,
// the launches replay from a CUDA graph.
#pragma once

#include "harness/base/error.h"
#include "harness/run/judge.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

enum class ContractState : std::uint8_t { held, broken, not_tested };

struct Contract {
  std::string name;
  ContractState state = ContractState::not_tested;
  std::string why; // one line: in how many cases, what broke it, or why it was not tested
};

class Contracts {
 public:
  explicit Contracts(Kernel& kernel) : kernel_(kernel) {}

  void take(const Judgement& judgement);
  // Replays the case from a graph, where the device has them and nothing else is wrong with the case. Its
  // buffers on the device are gone afterwards.
  Result<void> replay(const Case& test_case, const Judgement& judgement);

  std::vector<Contract> contracts() const;

 private:
  struct Tally {
    int cases = 0;
    std::string broken; // the first time
  };
  Contract graph() const;

  Kernel& kernel_;
  Tally inputs_, written_, graphs_;
  int unsteady_ = 0; // cases whose bits differ from run to run anyway
};

} // namespace assay
