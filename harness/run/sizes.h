// The integers of one case: its dims, and from them every let, launch size and scratch shape.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/manifest.h"
#include "harness/ops/op.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

struct Sizes {
  std::vector<std::int64_t> dims; // in OpInfo order
  std::vector<std::int64_t> lets; // in the manifest's order
};

Result<Sizes> evaluate_sizes(const Manifest& manifest, const OpInfo& op, std::vector<std::int64_t> dims);

// Dims and lets by name. The referenced objects must outlive the scope.
Scope scope_of(const Manifest& manifest, const OpInfo& op, const Sizes& sizes);

// The kernel name of every launch with ${T} and ${name} replaced.
Result<std::vector<std::string>> expanded_names(const Manifest& manifest, const OpInfo& op,
                                                const Sizes& sizes, DType dtype);

} // namespace assay
