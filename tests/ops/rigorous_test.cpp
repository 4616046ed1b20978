// The rigorous bound holds for every legal evaluation, on inputs chosen against
// it; random rounding, whose unit is twice that of rounding to nearest, stays
// within twice the bound.
#include "harness/numerics/formats.h"
#include "tests/ops/problem.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::testing {
namespace {

class RigorousTest : public ::testing::TestWithParam<std::string> {};

double storage_error(const Evaluated& e, double value) {
  const Format& format = format_of(e.dtype);
  return std::ldexp(std::fabs(value), -format.precision) + format.min_subnormal / 2;
}

void expect_bounded(const OwnedProblem& p, const std::vector<Instrument>& instruments, double factor) {
  const auto g = p.evaluate(golden);
  const OpInfo& info = p.op.info();
  const std::size_t algorithms =
      (p.problem.pass == Pass::forward ? info.algorithms : info.backward_algorithms).size();
  std::vector<std::vector<Evaluated>> bounds;
  for (std::size_t a = 0; a < algorithms; ++a) {
    Instrument i = rigorous;
    i.algorithm = static_cast<int>(a);
    i.approximate = instruments.front().approximate;
    bounds.push_back(p.evaluate(i));
  }
  for (const Instrument& i : instruments) {
    const auto got = p.evaluate(i);
    const auto& bound = bounds[static_cast<std::size_t>(i.algorithm)];
    for (std::size_t k = 0; k < got.size(); ++k) {
      if (!is_float(got[k].dtype)) continue; // integers have tests of their own
      for (std::size_t e = 0; e < got[k].value.size(); ++e) {
        if (!std::isfinite(g[k].value[e]) || g[k].formula_overflows[e] != 0 ||
            !std::isfinite(got[k].value[e]))
          continue;
        if (std::fabs(g[k].value[e]) > format_of(got[k].dtype).largest)
          continue; // saturates, or the overflow edge
        const double low = g[k].value_low.empty() ? 0 : g[k].value_low[e];
        const double error = std::fabs(got[k].value[e] - g[k].value[e] - low);
        const double allowed = factor * bound[k].bound[e] + g[k].bound[e] +
                               storage_error(got[k], std::fabs(g[k].value[e]) + factor * bound[k].bound[e]);
        ASSERT_LE(error, allowed) << describe(i) << " " << got[k].tensor << "[" << e
                                  << "] = " << got[k].value[e] << ", golden " << g[k].value[e] << ", bound "
                                  << bound[k].bound[e];
      }
    }
  }
}

TEST_P(RigorousTest, BoundsEveryLegalEvaluation) {
  const Op& op = *find_op(GetParam());
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    if (pass == Pass::backward && !op.info().has_backward) continue;
    const std::vector<Instrument> legal = legal_instruments(op, pass);
    std::vector<Instrument> noise, approximate;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      Instrument i = instrument(Instrument::Number::noise);
      i.seed = seed;
      noise.push_back(i);
      i = reference;
      i.functions = seed == 0   ? Instrument::Functions::all_up
                    : seed == 1 ? Instrument::Functions::all_down
                                : Instrument::Functions::random_signs;
      i.approximate = all_approximate;
      i.seed = seed;
      approximate.push_back(i);
    }
    for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
      for (const std::string_view kind : kinds)
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
          std::vector<std::int64_t> dims(op.info().dims.size(), 3);
          dims.back() = seed == 0 ? 2 : seed == 1 ? 37 : 150;
          if (op.info().name == "rope") dims = {3, 2, 1, 8, 5};
          OwnedProblem p(op, pass, dtype, dims);
          p.fill(kind, seed + 100);
          SCOPED_TRACE(fmt::format("{} {} {} cols {}", name_of(pass), name_of(dtype), kind, dims.back()));
          expect_bounded(p, legal, 1);
          expect_bounded(p, noise, 2.1);
          if (dtype != DType::f64) expect_bounded(p, approximate, 1);
          if (HasFatalFailure()) return;
        }
  }
}

std::vector<std::string> rounding_ops() {
  std::vector<std::string> names;
  for (const Op* op : all_ops())
    if (!op->info().exact) names.push_back(op->info().name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Ops, RigorousTest, ::testing::ValuesIn(rounding_ops()),
                         [](const auto& info) { return info.param; });

} // namespace
} // namespace assay::testing
