// dump_references FOLDER: one small problem of each operator, pass and type, and what the reference makes of
// it, for torch_reference.py to hold against PyTorch. tensors.tsv has a line a tensor: problem, op, pass,
// type of the case, dims, params, tensor, role, type, shape, file; the files are the elements' bits.
#include "harness/base/files.h"
#include "tests/ops/problem.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace assay::testing {
namespace {

std::string_view role_name(Role role) {
  switch (role) {
  case Role::input:
    return "input";
  case Role::output:
    return "output";
  case Role::upstream:
    return "upstream";
  case Role::gradient:
    return "gradient";
  }
  return "?";
}

std::vector<std::int64_t> dims_of(const OpInfo& info) {
  std::vector<std::int64_t> dims;
  for (const DimInfo& dim : info.dims) {
    std::int64_t size = dim.name == "n" || dim.name == "cols" || dim.name == "classes" ? 67 : 6;
    if (dim.name == "head_dim") size = 16;
    if (dim.name == "width") size = 4;
    dims.push_back(size);
  }
  return dims;
}

std::string bytes_of(DType type, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(type));
  narrow(type, values, bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Dump {
 public:
  explicit Dump(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void add(const Op& op, Pass pass, DType dtype) {
    OwnedProblem p(op, pass, dtype, dims_of(op.info()));
    p.fill("normal", 1);
    const auto results = p.evaluate(reference);
    const std::string head =
        fmt::format("{}\t{}\t{}\t{}\t{}\t{}", problems_++, op.info().name, name_of(pass), name_of(dtype),
                    fmt::join(p.problem.dims, ","), fmt::join(p.problem.params, ","));
    for (const TensorInfo& tensor : op.info().tensors) {
      const bool given =
          tensor.role == Role::input || (pass == Pass::backward && tensor.role == Role::upstream);
      const auto result = std::ranges::find(results, tensor.name, &Evaluated::tensor);
      if (!given && result == results.end()) continue;
      const DType type = tensor.dtype.value_or(dtype);
      const std::string file = fmt::format("{}.bin", files_++);
      std::vector<double> values = given ? p.values(tensor.name) : result->value;
      if (!write_file(folder_ / file, bytes_of(type, values))) std::exit(2);
      std::vector<std::int64_t> shape;
      for (const std::string& axis : tensor.shape) shape.push_back(size_of_axis(p, axis));
      table_ += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", head, tensor.name, role_name(tensor.role),
                            name_of(type), fmt::join(shape, ","), file);
    }
  }

  bool finish() const { return write_file(folder_ / "tensors.tsv", table_).has_value(); }

 private:
  static std::int64_t size_of_axis(const OwnedProblem& p, const std::string& axis) {
    const std::size_t star = axis.find("* ");
    return star == std::string::npos ? p.dim(axis) : std::stoll(axis) * p.dim(axis.substr(star + 2));
  }

  std::filesystem::path folder_;
  std::string table_;
  int problems_ = 0, files_ = 0;
};

} // namespace
} // namespace assay::testing

int main(int argc, char** argv) {
  using namespace assay;
  if (argc != 2) return 2;
  testing::Dump dump(argv[1]);
  for (const Op* op : all_ops())
    for (const Pass pass : {Pass::forward, Pass::backward})
      for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
        if (pass == Pass::forward || op->info().has_backward) dump.add(*op, pass, dtype);
  return dump.finish() ? 0 : 2;
}
