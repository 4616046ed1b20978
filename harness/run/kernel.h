// A kernel ready to be tried: its manifest bound to an operator, its source compiled for each type when first
// needed.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"
#include "harness/cases/manifest.h"
#include "harness/compile/compile.h"
#include "harness/device/device.h"
#include "harness/inputs/space.h"
#include "harness/ops/op.h"
#include "harness/run/binding.h"
#include "harness/run/plan.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace assay {

struct KernelOptions {
  std::filesystem::path cache_dir = default_cache_dir();
  // The user named the manifest: an operator of its own is compiled and run wherever it lies. Where a case
  // names it, only one inside the folder that this process works in is.
  bool named_by_user = false;
  std::uint64_t memory_budget = std::uint64_t{1}
                                << 29; // bytes of one case's device buffers; above: a user error
  std::int64_t element_budget =
      1 << 19; // elements of the largest tensor of a case of the sweep; of most others a quarter
};

class Kernel {
 public:
  // Reads, binds and compiles (the first type's entries; others when first used). Every mismatch between
  // manifest, operator and PTX is a user error with the manifest's file and line. `device` must outlive the
  // kernel.
  static Result<std::unique_ptr<Kernel>> load(const std::filesystem::path& manifest, Device& device,
                                              const KernelOptions& options = {});
  // The same from parts; source_text is what stands in manifest.source.
  static Result<std::unique_ptr<Kernel>> bind(Manifest manifest, const Op& op, std::string source_text,
                                              Device& device, const KernelOptions& options = {});

  const Manifest& manifest() const { return manifest_; }
  const Op& op() const { return *op_; }
  Device& device() const { return *device_; }
  const std::string& source_hash() const { return source_hash_; } // of the source and what it includes

  // Outputs and gradients that no launch names, as "grad_weight": nothing is known of them, and reports say
  // so.
  const std::vector<std::string>& not_tested() const { return not_tested_; }
  bool tests(std::size_t tensor) const { return binding_.named[tensor]; } // index in op().info().tensors
  // Of any program loaded so far.
  bool has_atomics() const { return has_atomics_; } // such kernels are run 8 times a case
  // The functions whose errors may be those of PTX's table: all but tanh where any program uses a fast
  // function (ex2.approx as exp, div.full, --use_fast_math), tanh where one uses tanh.approx, which is a
  // thousand times worse.
  Approximations approximates() const { return approximates_; }

  // What the fuzzer may draw: the manifest's dims within the operator's limits, types, passes, params,
  // layouts.
  const CaseSpace& space() const { return space_; }

  // Everything about a case but its numbers: shapes, launch sizes, the compiled program. Nothing is allocated
  // for it. User errors: a dim, tensor, param or type the kernel does not have, sizes outside the manifest's
  // or the operator's limits, or over the memory budget.
  Result<Plan> plan(const Case& test_case);

 private:
  struct Loaded {
    std::shared_ptr<Program> program;
    bool keeps_state = false;
    std::vector<std::string> entries;                    // of each launch
    std::vector<std::vector<std::uint32_t>> param_bytes; // of each launch
  };

  Kernel() = default;
  // The program for one type and one set of expanded kernel names, compiled and checked against the launches'
  // arguments when first asked for.
  Result<const Loaded*> program(DType dtype, const std::vector<std::string>& names);
  Error in_manifest(Error error, const std::vector<std::string>& names) const;
  Result<void> check_arguments(Loaded& loaded, const std::vector<std::string>& names) const;

  Manifest manifest_;
  const Op* op_ = nullptr;
  Device* device_ = nullptr;
  KernelOptions options_;
  std::string source_text_, source_hash_;
  Binding binding_;
  std::vector<std::string> not_tested_;
  bool has_atomics_ = false;
  Approximations approximates_ = 0;
  CaseSpace space_;
  std::map<std::string, Loaded> programs_;
};

} // namespace assay
