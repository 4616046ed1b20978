// kernel.toml: everything that is said about a kernel before it ever runs. This file knows names and shapes
// only as text; harness/run/ binds them to an operator and to the parameter lists in the PTX.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/expression.h"
#include "harness/numerics/dtype.h"
#include "harness/numerics/signature.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace assay {

// What a dimension may be, and where its interesting values lie.
struct DimRange {
  std::string name;
  std::int64_t min = 1;
  std::int64_t max = 1;
  std::vector<std::int64_t> near;       // tile sizes
  std::vector<std::int64_t> production; // sizes in real use
  std::int64_t multiple_of = 1;
  Place place;

  bool pinned() const { return min == max; }
};

struct Let {
  std::string name;
  Expression value;
};

// One launch argument as written: a tensor, a scratch buffer, a dim, a let, a param, NAME.stride(i),
// memref:NAME (what MLIR passes for a memref: pointer, pointer, offset, sizes, strides), 0, null.
struct ArgumentText {
  enum class Form : std::uint8_t { name, stride, memref, zero, null };
  Form form = Form::name;
  std::string name;           // of the tensor, dim, ...; empty for zero and null
  int stride_dim = 0;         // for stride
  std::optional<DType> width; // i32 or i64 where written "name:i64"
  Place place;
};

struct LaunchText {
  Pass pass = Pass::forward;
  std::string kernel;            // with ${T}, ${name} not yet expanded
  std::vector<Expression> grid;  // 1 to 3
  std::vector<Expression> block; // 1 to 3
  Expression shared;             // dynamic shared memory, bytes
  std::vector<ArgumentText> args;
  Place place;
};

struct ScratchText {
  std::string name;
  std::vector<Expression> shape;
  std::optional<DType> dtype; // nullopt: T, the case's type
  bool zero = false;
  Place place;
};

struct ParamText {
  std::string name;
  std::vector<double> values; // one, or several between which the fuzzer chooses
  Place place;
};

// How far an input's memory may differ from a dense one.
struct LayoutText {
  std::string tensor;
  bool strided = false;     // any strides
  bool row_strided = false; // the last dim stays contiguous
  bool offset = false;      // the pointer is aligned to one element only
  Place place;
};

// Declared before the target ever runs; stored in every case (method: section 3).
struct Tolerance {
  double fudge = 2.0;
  double atol = 0.0;
  double reference_limit = 0.1;
  std::optional<double> rms_limit;
  std::optional<double> max_ulp; // elementwise operators only, with evidence
  std::string evidence;
  bool flush_subnormals = false;

  bool operator==(const Tolerance&) const = default;
};

struct Manifest {
  std::filesystem::path path;   // of kernel.toml, as given
  std::filesystem::path source; // resolved beside it
  std::string name;
  std::string op;
  std::vector<std::string> options;                // extra NVRTC (or MLIR pass) options
  std::vector<std::filesystem::path> include_dirs; // resolved
  std::vector<DType> dtypes;
  bool deterministic = true;
  bool flush_subnormals = false; // declared, or implied by --ftz / --use_fast_math
  std::vector<DimRange> dims;    // in file order
  std::vector<Let> lets;         // in file order; a let may use earlier ones
  std::vector<LaunchText> launches;
  std::vector<ScratchText> scratch;
  std::vector<ParamText> params;
  std::vector<LayoutText> layout;
  Tolerance tolerance;
  std::map<std::string, Place> places; // of top-level keys, for messages by those who bind the manifest

  bool has_backward() const;
};

// Reads and checks a manifest as far as its text alone allows. Errors are user errors with file and line; an
// unknown key, a wrong type and an expression that does not parse are errors. Nothing is compiled or run.
Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path& path);
Result<Manifest> load_manifest(const std::filesystem::path& path);

} // namespace assay
