// One test case: a few hundred bytes from which every machine regenerates the same inputs, bit for bit.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/manifest.h"
#include "harness/numerics/dtype.h"
#include "harness/numerics/signature.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// A distribution by name with its parameters, as "normal(mean=0, stddev=1)". Which kinds there are, what their
// parameters mean and what values they may take stands in cases/distribution.h; harness/inputs fills by it.
struct Distribution {
  std::string kind = "zero";
  std::vector<std::pair<std::string, double>> params; // in the kind's own order, defaults written out

  bool operator==(const Distribution&) const = default;
};

// Some lines (slices along the last dimension) of a tensor that differ from the rest.
struct LinePatch {
  std::int64_t first = 0; // lines first, first + step, ... (count of them)
  std::int64_t step = 1;
  std::int64_t count = 1;
  Distribution distribution;

  bool operator==(const LinePatch&) const = default;
};

// One element given by its bits, so that they survive: x[2,17] = 3.2e4.
struct ElementOverride {
  std::vector<std::int64_t> index;
  std::uint64_t bits = 0; // in the tensor's own storage type, zero-extended

  bool operator==(const ElementOverride&) const = default;
};

// How a tensor lies in device memory. Empty strides: dense.
struct Layout {
  std::vector<std::int64_t> strides; // in elements, never 0
  std::int64_t offset = 0;           // elements by which the pointer is moved off its 256-byte alignment

  bool operator==(const Layout&) const = default;
};

struct TensorInput {
  std::string tensor;
  Distribution distribution;
  std::uint64_t seed = 0;
  std::vector<LinePatch> patches; // later ones win
  std::vector<ElementOverride> overrides;
  Layout layout;

  bool operator==(const TensorInput&) const = default;
};

struct Expectation {
  bool pass = true;
  std::string signature; // for a case that is expected to fail

  bool operator==(const Expectation&) const = default;
};

struct Case {
  std::string manifest; // path relative to the repository (or absolute), or a kernel's name
  DType dtype = DType::f32;
  Pass pass = Pass::forward; // backward runs the forward launches first
  std::vector<std::pair<std::string, std::int64_t>> dims;
  std::vector<std::pair<std::string, double>> params;
  std::vector<TensorInput> inputs; // inputs, and for backward also upstream gradients
  std::uint64_t schedule_seed = 0;
  Tolerance tolerance;
  Expectation expect;
  std::string source_hash; // of the kernel's source when the case was made; a difference is a note

  bool operator==(const Case&) const = default;
};

// The canonical text, first line "assay-case 1". parse_case(to_text(c)) == c for every case that parses.
std::string to_text(const Case& test_case);

// Any malformed text is a user error with the line. Bounds: 1 MiB of text, dims 0 to 2^40, at most 2^31 elements a
// tensor; names are [A-Za-z_][A-Za-z0-9_]*.
Result<Case> parse_case(std::string_view text, const std::string& file_name);

} // namespace assay
