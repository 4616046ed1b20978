#include "tests/ops/problem.h"

#include "harness/base/check.h"
#include "harness/numerics/formats.h"
#include "harness/ops/evaluation.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace assay::testing {

OwnedProblem::OwnedProblem(const Op& o, Pass pass, DType dtype, std::vector<std::int64_t> sizes) : op(o) {
  const OpInfo& info = op.info();
  problem.pass = pass;
  problem.dtype = dtype;
  problem.dims = std::move(sizes);
  for (const ParamInfo& param : info.params) problem.params.push_back(static_cast<float>(param.initial));
  std::vector<Dim> dims;
  for (const DimInfo& dim : info.dims) dims.push_back({static_cast<int>(dims.size()), dim.name.c_str()});
  for (const TensorInfo& tensor : info.tensors) {
    if (tensor.role != Role::input && !(pass == Pass::backward && tensor.role == Role::upstream)) continue;
    auto owned = std::make_unique<Tensor>();
    owned->dtype = tensor.dtype.value_or(dtype);
    for (const std::string& axis : tensor.shape)
      owned->shape.push_back(axes_of(axis.c_str(), dims, problem.dims).front());
    owned->bytes.resize(static_cast<std::size_t>(owned->element_count()) * size_of(owned->dtype));
    problem.tensors.push_back(owned.get());
    tensors_.emplace_back(tensor.name, std::move(owned));
  }
}

OwnedProblem& OwnedProblem::fill(std::string_view kind, std::uint64_t seed) {
  std::mt19937_64 engine(seed * 1000003);
  for (const TensorInfo& info : op.info().tensors) {
    Tensor* tensor = find(info.name);
    if (!tensor) continue;
    const std::int64_t count = tensor->element_count();
    std::vector<double> values(static_cast<std::size_t>(count));
    using K = Domain::Kind;
    switch (info.domain.kind) {
    case K::index:
    case K::target:
      for (double& v : values) {
        v = static_cast<double>(engine() % static_cast<std::uint64_t>(dim(info.domain.limit)));
        if (info.domain.kind == K::target && engine() % 8 == 0) v = -100;
      }
      break;
    case K::boolean:
      for (double& v : values) v = static_cast<double>(engine() % 2);
      break;
    case K::code:
      for (double& v : values) v = static_cast<double>(engine() % 255) - 127;
      break;
    case K::scale:
      for (double& v : values) v = std::exp(static_cast<double>(engine() % 20) - 10);
      break;
    case K::rotary:
    case K::real:
    case K::quantizable:
      values = draw(info.role == Role::upstream || info.domain.kind == K::rotary ? "normal" : kind,
                    tensor->dtype, count, tensor->shape.empty() ? 1 : tensor->shape.back(), engine());
      break;
    }
    narrow(tensor->dtype, values, tensor->bytes);
  }
  return *this;
}

OwnedProblem& OwnedProblem::set(std::string_view name, const std::vector<double>& values) {
  Tensor* tensor = find(name);
  ASSAY_CHECK(tensor && tensor->element_count() == static_cast<std::int64_t>(values.size()), "set {}", name);
  narrow(tensor->dtype, values, tensor->bytes);
  return *this;
}

std::int64_t OwnedProblem::dim(std::string_view name) const {
  const auto& dims = op.info().dims;
  const auto found = std::ranges::find(dims, name, &DimInfo::name);
  ASSAY_CHECK(found != dims.end(), "no dim {}", name);
  return problem.dims[static_cast<std::size_t>(found - dims.begin())];
}

Tensor* OwnedProblem::find(std::string_view name) const {
  for (const auto& [tensor, owned] : tensors_)
    if (tensor == name) return owned.get();
  return nullptr;
}

std::vector<double> draw(std::string_view kind, DType dtype, std::int64_t count, std::int64_t line,
                         std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const Format& format = format_of(dtype);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t i = line > 0 ? k % line : 0;
    double v = 0;
    if (kind == "normal") v = normal(engine);
    if (kind == "uniform") v = uniform(engine);
    if (kind == "cancelling") { // pairs that cancel but for their last bits
      v = i % 2 == 1 ? -values[static_cast<std::size_t>(k - 1)] * (1 + 1e-7 * uniform(engine))
                     : 1000 * normal(engine);
    }
    if (kind == "extreme") v = 40 * normal(engine) + (uniform(engine) < 0.1 ? 500 : 0);
    if (kind == "offset") v = 30000 + normal(engine);
    if (kind == "tiny_noise") v = 1 + 1e-6 * normal(engine);
    if (kind == "subnormal") v = format.min_normal * normal(engine) / 2;
    if (kind == "ramp") v = static_cast<double>(i) / 64 - 1;
    if (kind == "equal") v = 0.7;
    if (kind == "one_hot") v = i == line / 2 ? 90 : 0;
    if (kind == "wide") v = std::ldexp(normal(engine), static_cast<int>(engine() % 30) - 20);
    if (kind == "alternating") v = i % 2 == 0 ? 3 : -3;
    if (kind == "one_in_front") v = i == 0 ? 1e4 : 1e-3 * uniform(engine);
    if (kind == "near_largest")
      v = format.largest * (0.5 + 0.49 * uniform(engine)) * (engine() % 2 == 0 ? 1 : -1);
    v = round_value(dtype, v);
    values[static_cast<std::size_t>(k)] = std::clamp(v, -format.largest, format.largest);
  }
  return values;
}

const Evaluated& named(const std::vector<Evaluated>& all, std::string_view tensor) {
  const auto found = std::ranges::find(all, tensor, &Evaluated::tensor);
  ASSAY_CHECK(found != all.end(), "no tensor {}", tensor);
  return *found;
}

std::vector<Instrument> legal_instruments(const Op& op, Pass pass) {
  const OpInfo& info = op.info();
  const std::size_t algorithms = (pass == Pass::forward ? info.algorithms : info.backward_algorithms).size();
  std::vector<Instrument> all;
  for (std::size_t algorithm = 0; algorithm < algorithms; ++algorithm) {
    for (const auto& [order, width] :
         {std::pair(Order::sequential, 1), std::pair(Order::pairwise, 1), std::pair(Order::blocked, 7),
          std::pair(Order::blocked, 32), std::pair(Order::strided, 5), std::pair(Order::strided, 32)}) {
      for (const bool contract : {false, true}) {
        Instrument i;
        i.order = order, i.width = width, i.contract = contract, i.algorithm = static_cast<int>(algorithm);
        all.push_back(i);
      }
    }
    for (int k = 0; k < 6; ++k) {
      Instrument i;
      i.functions = k == 0   ? Instrument::Functions::all_up
                    : k == 1 ? Instrument::Functions::all_down
                             : Instrument::Functions::random_signs;
      i.seed = static_cast<std::uint64_t>(k), i.algorithm = static_cast<int>(algorithm);
      all.push_back(i);
    }
    Instrument i;
    i.narrowed = reciprocals, i.narrow = DType::f32, i.algorithm = static_cast<int>(algorithm);
    all.push_back(i);
  }
  return all;
}

std::string describe(const Instrument& i) {
  return fmt::format("number {} order {} width {} contract {} algorithm {} "
                     "functions {} seed {}",
                     static_cast<int>(i.number), static_cast<int>(i.order), i.width, i.contract, i.algorithm,
                     static_cast<int>(i.functions), i.seed);
}

} // namespace assay::testing
