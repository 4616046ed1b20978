// One test case: a few hundred bytes from which every machine regenerates the same inputs, bit for bit.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/distribution.h"
#include "harness/cases/manifest.h"
#include "harness/numerics/dtype.h"
#include "harness/numerics/signature.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

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
  std::optional<DType> dtype; // nullopt: T, the case's type
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

// Where a parsed case says what, for messages by those who bind it: "dims.rows", "inputs.x". No part of its
// value.
struct CaseLines {
  std::string file;
  std::map<std::string, int> of;

  Place place(const std::string& what) const {
    const auto found = of.find(what);
    return {file, found == of.end() ? 0 : found->second, 0};
  }
  bool operator==(const CaseLines&) const { return true; }
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
  CaseLines lines;

  bool operator==(const Case&) const = default;
};

// The canonical text. parse_case(to_text(c)) == c for every case that parses.
//
//   assay-case 1
//   kernel = kernels/softmax_naive/kernel.toml
//   source = 5f1c...                          (the source's hash; optional)
//   dtype = f32
//   pass = forward
//   schedule = 7                              (seed of the order of blocks and warps)
//   expect = pass                             (or: fail SIGNATURE)
//
//   [dims]
//   rows = 4
//   cols = 257
//
//   [params]
//   eps = 1e-06
//
//   [inputs]
//   x = normal(mean=0, stddev=1) seed 7
//   x lines 3..3 = one_outlier(value=100, place=0.5, stddev=1)    (or 0..6 step 2)
//   x strides = 300, 1 offset 1
//   x[2,17] = 3.2e4
//   index: i32 = legal(edges=0.25) seed 3     (a type other than the case's own is named)
//
//   [tolerance]
//   fudge = 2
//   atol = 0
//   reference_limit = 0.1
//   flush_subnormals = false
//
// Blank lines and lines that begin with # say nothing, nor does a byte order mark before the first. Floats
// are printed with the fewest digits that give the same bits in the element's own type; a NaN that is not the
// usual one as nan(0x7fc00001).
std::string to_text(const Case& test_case);

// Any malformed text is a user error with the line. Bounds: 1 MiB of text, dims 0 to 2^40, ranks up to 8,
// every distribution as cases/distribution.h allows it; names are [A-Za-z_][A-Za-z0-9_]*, at most 64 letters.
// Whether shapes, inputs and types fit the kernel is check_case's business (inputs/space.h).
Result<Case> parse_case(std::string_view text, const std::string& file_name);

} // namespace assay
