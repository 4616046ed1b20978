#include "tests/ops/truth.h"

#include "harness/base/check.h"
#include "tests/ops/truth_table.h"

namespace assay::testing {
namespace {

const TruthTable& truths() {
  static const TruthTable all = [] {
    TruthTable table;
    add_elementwise_truths(table);
    add_row_truths(table);
    add_tensor_truths(table);
    return table;
  }();
  return all;
}

} // namespace

Values exact(const OwnedProblem& p, std::string_view tensor) {
  const std::vector<double> values = p.values(tensor);
  return {values.begin(), values.end()};
}

std::vector<Mp> truth(const OwnedProblem& p, std::string_view tensor) {
  const auto found = truths().find(fmt::format("{}.{}", p.op.info().name, tensor));
  ASSAY_CHECK(found != truths().end(), "no truth for {}.{}", p.op.info().name, tensor);
  return found->second(p);
}

bool has_truth(std::string_view op) {
  const auto next = truths().lower_bound(fmt::format("{}.", op));
  return next != truths().end() && next->first.starts_with(fmt::format("{}.", op));
}

} // namespace assay::testing
