// The faults of one launch, distinct by (kind, buffer, place).
#pragma once

#include "harness/device/cpu/runtime/abi.h"
#include "harness/device/device.h"

#include <string>
#include <unordered_set>
#include <vector>

namespace assay::cpu {

// An order of places that does not depend on the schedule.
inline bool stands_before(const Site& a, const Site& b) {
  if (a.source_file != b.source_file) return a.source_file < b.source_file;
  if (a.source_line != b.source_line) return a.source_line < b.source_line;
  return a.ptx_line < b.ptx_line;
}

inline constexpr std::size_t max_faults = 64;

struct CompiledModule;

class FaultLog {
 public:
  void start(const CompiledModule* module) {
    faults_.clear();
    seen_.clear();
    module_ = module;
  }
  Place place_of(const Site& site) const;
  // "softmax.cu:41"
  std::string place_text(const Site& site) const;
  // Whether such a fault would be new (a message need not be made where it is not).
  bool is_new(Kind kind, const std::string& buffer, const Site& site, bool note = false) const;
  // Whether it is the first such fault of this instruction there; cheap, for faults that repeat.
  bool first_time(Kind kind, const void* where, const Site& site, bool note);
  void record(Kind kind, std::string buffer, Place place, std::string message, bool note = false);
  std::vector<Fault>& faults() { return faults_; }

 private:
  const CompiledModule* module_ = nullptr;
  std::vector<Fault> faults_;
  std::unordered_set<std::uint64_t> seen_;
};

} // namespace assay::cpu
