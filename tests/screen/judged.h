// Cases that the judging program (harness/screen/device) judges on the CPU device beside the host's own
// judges: one operator, pass and type, several draws of the inputs, and for each several targets, right ones
// and ones that are wrong in a chosen way.
#pragma once

#include "harness/cases/case.h"
#include "harness/compile/ptx_source.h"
#include "harness/inputs/rng.h"
#include "harness/run/trial.h"
#include "harness/screen/case_plan.h"
#include "harness/screen/slot_layout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::testing {

struct Target {
  std::size_t draw = 0; // which inputs it is beside
  std::string name;
  bool right = false;
  std::vector<std::vector<double>> values; // of each tested output
};

// What the GPU said of one case, and what it left in its scratch.
struct ScreenVerdict {
  screen::Record record;
  std::vector<std::vector<double>> reference;          // of each tested output; integers: empty
  std::vector<std::vector<double>> golden, golden_low; // likewise
  std::vector<std::vector<double>> magnitude;
};

struct HostVerdict {
  bool judged = true; // gradients of NaN or infinities are not
  bool suspect = false;
  bool near =
      false; // some number comes within 15 % of its limit, or a gate is invalid, or something overflows
  std::string why;
  std::vector<Comparison> outputs; // empty comparisons for exact outputs
};

class Judged {
 public:
  // strided: inputs whose elements lie apart, and begin one element late.
  Judged(const Op& op, Pass pass, DType dtype, std::vector<std::int64_t> dims, const Tolerance& tolerance,
         bool strided);

  // Inputs drawn by the mutators' own rules, or all plain (N(0, 1) and legal values).
  void draw(Rng& rng, bool plain);
  // Right targets and wrong ones for the last draw.
  void add_targets(Rng& rng);

  const std::vector<Target>& targets() const { return targets_; }
  const std::string& description(std::size_t draw) const { return descriptions_[draw]; }
  const Trial& trial(std::size_t draw) const { return trials_[draw]; }

  // The host's judges of target k; with the reference that the GPU had, where `with` is given.
  HostVerdict by_host(std::size_t k, const ScreenVerdict* with = nullptr) const;
  // All targets in one launch; threads: of a block, 0 as judge_needs() chooses.
  std::vector<ScreenVerdict> by_screen(const PtxSource& program, std::uint32_t threads = 0);
  const Plan& run_plan() const { return run_plan_; }
  const screen::CasePlan& plan() const { return plan_; } // of the last by_screen()

 private:
  void add(std::string name, bool right, std::vector<std::vector<double>> values);
  void add_wrong(Rng& rng);

  const Op& op_;
  Tolerance tolerance_;
  Plan run_plan_;
  Case case_;
  std::vector<std::size_t> tested_; // places in OpInfo::tensors
  std::vector<Trial> trials_;       // one a draw; its target is the reference
  std::vector<std::string> descriptions_;
  std::vector<Target> targets_;
  screen::CasePlan plan_;
};

} // namespace assay::testing
