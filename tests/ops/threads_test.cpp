// Every operator by every kind of number: the same bits by one thread and by four.
#include "harness/base/parallel.h"
#include "tests/ops/problem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace assay::testing {
namespace {

template <class T> bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

bool same_bits(const Evaluated& a, const Evaluated& b) {
  return same_bits(a.value, b.value) && same_bits(a.value_low, b.value_low) && same_bits(a.bound, b.bound) &&
         same_bits(a.magnitude, b.magnitude) && same_bits(a.alternative, b.alternative) &&
         same_bits(a.formula_overflows, b.formula_overflows) && same_bits(a.line_starts, b.line_starts);
}

// Some 30,000 operations, of which 8,000 are worth a thread; sizes that nothing divides evenly.
std::vector<std::int64_t> sizes_for(const OpInfo& info) {
  std::vector<std::int64_t> sizes;
  const double each = std::pow(2.6e4, 1 / static_cast<double>(info.dims.size()));
  for (const DimInfo& dim : info.dims)
    sizes.push_back((static_cast<std::int64_t>(each) / dim.multiple_of + 1) * dim.multiple_of);
  return sizes;
}

std::vector<Instrument> instruments(const OpInfo& info, Pass pass) {
  std::vector<Instrument> all = {golden, rigorous, reference, instrument(Instrument::Number::noise)};
  all.back().seed = 7;
  Instrument one;
  one.order = Order::pairwise, one.contract = true;
  all.push_back(one);
  one = {}, one.order = Order::strided, one.width = 32;
  one.algorithm =
      static_cast<int>((pass == Pass::forward ? info.algorithms : info.backward_algorithms).size()) - 1;
  all.push_back(one);
  one = {}, one.functions = Instrument::Functions::all_up;
  all.push_back(one);
  one.functions = Instrument::Functions::random_signs, one.seed = 3;
  all.push_back(one);
  one = {}, one.narrowed = narrowed_accumulators;
  all.push_back(one);
  return all;
}

TEST(Threads, EveryOperatorGivesTheSameBits) {
  for (const Op* op : all_ops())
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      if (pass == Pass::backward && !op->info().has_backward) continue;
      for (const auto& [kind, dtype] :
           {std::pair("normal", DType::f32), std::pair("near_largest", DType::bf16),
            std::pair("wide", DType::f64)}) {
        OwnedProblem problem(*op, pass, dtype, sizes_for(op->info()));
        problem.fill(kind, 1);
        for (const Instrument& each : instruments(op->info(), pass)) {
          const std::vector<Evaluated> alone = problem.evaluate(each);
          use_threads(4);
          const std::vector<Evaluated> together = problem.evaluate(each);
          use_threads(1);
          ASSERT_EQ(alone.size(), together.size());
          for (std::size_t i = 0; i < alone.size(); ++i)
            EXPECT_TRUE(same_bits(alone[i], together[i]))
                << op->info().name << " " << name_of(pass) << " " << name_of(dtype) << " " << alone[i].tensor
                << ": " << describe(each);
        }
      }
    }
}

} // namespace
} // namespace assay::testing
