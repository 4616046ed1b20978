// A manifest with what it names, read and bound but not compiled: all that can be said of a kernel without
// its compiler.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/manifest.h"
#include "harness/ops/op.h"
#include "harness/run/binding.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct KernelParts {
  Manifest manifest;
  const Op* op = nullptr;
  std::string source_text; // what stands in manifest.source
};

// User errors: the manifest's own, at its line; an operator that there is not; a source that cannot be read.
// `named_by_user`, `cache_dir`: of KernelOptions.
Result<KernelParts> read_kernel_parts(const std::filesystem::path& manifest, bool named_by_user,
                                      const std::filesystem::path& cache_dir);

// Of the source and of what it includes, as cases and campaigns know a kernel by.
std::string source_hash(const Manifest& manifest, std::string_view source_text);

// Outputs and gradients that no launch names, as "grad_weight".
std::vector<std::string> not_tested(const OpInfo& info, const Binding& binding);

} // namespace assay
