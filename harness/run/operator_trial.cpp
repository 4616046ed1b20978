#include "harness/run/operator_trial.h"

#include "harness/base/check.h"
#include "harness/base/hash.h"
#include "harness/cases/expression.h"
#include "harness/numerics/bulk.h"
#include "harness/run/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace assay {
namespace {

std::int64_t size_of_dim(const OpInfo& info, const std::vector<std::int64_t>& dims, std::string_view name) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (info.dims[i].name == name) return dims[i];
  return 1;
}

enum class Values : std::uint8_t { ordinary, zero, extreme };

// Legal values. The ordinary ones are not beside 0 or another: multiples of 1/16 between -2 and 2, each 1/32
// further.
double value_of(const Domain& domain, Values values, std::int64_t limit, std::uint64_t seed, std::int64_t i) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::array extremes = {0x1p100,  -0x1p100,  0x1p-130,
                                   infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  const std::uint64_t draw = content_hash64(fmt::format("{} {}", seed, i));
  switch (domain.kind) {
  case Domain::Kind::index:
  case Domain::Kind::target:
    return static_cast<double>(draw % static_cast<std::uint64_t>(std::max<std::int64_t>(limit, 1)));
  case Domain::Kind::boolean:
    return static_cast<double>(draw % 2);
  case Domain::Kind::code:
    return static_cast<double>(draw % 255) - 127;
  case Domain::Kind::scale:
    return static_cast<double>(1 + draw % 32) / 16;
  case Domain::Kind::real:
    if (values == Values::zero) return 0;
    if (values == Values::extreme) return extremes[draw % (domain.specials ? extremes.size() : 3)];
    break;
  case Domain::Kind::rotary:
  case Domain::Kind::quantizable:
    break;
  }
  return (static_cast<double>(draw % 64) - 32) / 16 + 1.0 / 32;
}

// One problem and what its tensors hold.
struct Draw {
  const OpInfo& info;
  Problem problem;
  std::vector<std::vector<double>> values; // by tensor, in OpInfo order; empty for those not read
  std::vector<Tensor> tensors;             // likewise

  Draw(const Op& op, DType dtype, std::uint64_t seed, Values kind = Values::ordinary, std::int64_t size = 3)
      : info(op.info()), values(info.tensors.size()), tensors(info.tensors.size()) {
    problem.dtype = dtype;
    for (const DimInfo& dim : info.dims)
      problem.dims.push_back((std::max(dim.min, size) + dim.multiple_of - 1) / dim.multiple_of *
                             dim.multiple_of);
    for (const ParamInfo& param : info.params) problem.params.push_back(round_param(param, param.initial));
    const Scope scope = [&](std::string_view name) -> std::optional<std::int64_t> {
      return size_of_dim(info, problem.dims, name);
    };
    for (std::size_t t = 0; t < info.tensors.size(); ++t) {
      const TensorInfo& tensor = info.tensors[t];
      if (tensor.role != Role::input && tensor.role != Role::upstream) continue;
      tensors[t].dtype = tensor.dtype.value_or(dtype);
      for (const std::string& axis : tensor.shape) {
        const auto expression = Expression::parse(axis, {});
        ASSAY_CHECK(expression.has_value(), "the shape of {} was checked", tensor.name);
        const auto length = expression->evaluate(scope);
        ASSAY_CHECK(length.has_value(), "the shape of {} was checked", tensor.name);
        tensors[t].shape.push_back(*length);
      }
      const std::int64_t limit = size_of_dim(info, problem.dims, tensor.domain.limit);
      values[t].resize(static_cast<std::size_t>(tensors[t].element_count()));
      for (std::size_t i = 0; i < values[t].size(); ++i)
        values[t][i] = value_of(tensor.domain, kind, limit, 1000 * seed + t, static_cast<std::int64_t>(i));
    }
  }

  std::vector<Evaluated> evaluate(const Op& op, Pass pass, Instrument::Number number, int algorithm = 0) {
    problem.pass = pass;
    problem.tensors.clear();
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const Role role = info.tensors[t].role;
      if (role != Role::input && (role != Role::upstream || pass == Pass::forward)) continue;
      tensors[t].bytes.resize(values[t].size() * size_of(tensors[t].dtype));
      narrow(tensors[t].dtype, values[t], tensors[t].bytes);
      problem.tensors.push_back(&tensors[t]);
    }
    Instrument instrument;
    instrument.number = number;
    instrument.algorithm = algorithm;
    return op.evaluate(problem, instrument);
  }

  // The sum of upstream * output over all outputs that have one.
  double objective(const Op& op) {
    const std::vector<Evaluated> outputs = evaluate(op, Pass::forward, Instrument::Number::golden);
    double total = 0;
    for (std::size_t t = 0; t < info.tensors.size(); ++t) {
      if (info.tensors[t].role != Role::upstream) continue;
      const auto output = std::ranges::find(outputs, info.tensors[t].of, &Evaluated::tensor);
      for (std::size_t i = 0; i < values[t].size(); ++i) total += values[t][i] * output->value[i];
    }
    return total;
  }
};

std::optional<GradientFault> fault_in_draw(const Op& op, std::uint64_t seed) {
  Draw draw(op, DType::f64, seed);
  const OpInfo& info = op.info();
  const auto gradients = draw.evaluate(op, Pass::backward, Instrument::Number::golden);
  for (const Evaluated& gradient : gradients) {
    const auto spec = std::ranges::find(info.tensors, gradient.tensor, &TensorInfo::name);
    const auto of = std::ranges::find(info.tensors, spec->of, &TensorInfo::name);
    std::vector<double>& at = draw.values[static_cast<std::size_t>(of - info.tensors.begin())];
    const std::size_t checked = std::min<std::size_t>(at.size(), 8);
    for (std::size_t i = 0; i < checked; ++i) {
      const double h = 0x1p-10, before = at[i];
      at[i] = before + h;
      const double above = draw.objective(op);
      at[i] = before - h;
      const double below = draw.objective(op);
      at[i] = before;
      const double expected = (above - below) / (2 * h), found = gradient.value[i];
      if (std::fabs(found - expected) <= 1e-3 * (1 + std::fabs(expected))) continue;
      return GradientFault{
          gradient.tensor,
          fmt::format("backward's {} is not the derivative of forward: element {} is {:.6g}, "
                      "and finite differences give {:.6g}",
                      gradient.tensor, i, found, expected)};
    }
  }
  return std::nullopt;
}

} // namespace

void try_formulas(const Op& op) {
  using Number = Instrument::Number;
  const OpInfo& info = op.info();
  for (const std::int64_t size : {3, 1})
    for (const Values values : {Values::ordinary, Values::zero, Values::extreme}) {
      Draw draw(op, DType::f32, 1, values, size);
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        if (pass == Pass::backward && !info.has_backward) continue;
        const auto& algorithms = pass == Pass::forward ? info.algorithms : info.backward_algorithms;
        for (std::size_t a = 0; a < std::max<std::size_t>(algorithms.size(), 1); ++a)
          for (const Number number : {Number::plain, Number::golden, Number::noise, Number::rigorous})
            draw.evaluate(op, pass, number, static_cast<int>(a));
      }
    }
}

std::optional<GradientFault> gradient_fault(const Op& op) {
  if (!op.info().has_backward) return std::nullopt;
  std::optional<GradientFault> fault;
  for (const std::uint64_t seed : {1, 2, 3}) {
    fault = fault_in_draw(op, seed);
    if (!fault) return std::nullopt;
  }
  return fault;
}

} // namespace assay
