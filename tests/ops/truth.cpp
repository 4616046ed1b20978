#include "tests/ops/truth.h"

#include "harness/base/check.h"

#include <functional>
#include <map>

namespace assay::testing {
namespace {

using Values = std::vector<Mp>;
using Truth = std::function<Values(const OwnedProblem&)>;

Values exact(const OwnedProblem& p, std::string_view tensor) {
  const std::vector<double> values = p.values(tensor);
  return {values.begin(), values.end()};
}

// f(first element, elements) for each row of a [rows, cols] tensor.
template <class F> void for_rows(std::int64_t rows, std::int64_t cols, const F& f) {
  for (std::int64_t r = 0; r < rows; ++r) f(static_cast<std::size_t>(r), static_cast<std::size_t>(r * cols));
}

struct RowDims {
  std::int64_t rows, cols;
  std::size_t n;
  explicit RowDims(const OwnedProblem& p, std::string_view second = "cols")
      : rows(p.dim("rows")), cols(p.dim(second)), n(static_cast<std::size_t>(cols)) {}
};

Values softmax(const OwnedProblem& p) {
  const RowDims d(p);
  const Values x = exact(p, "x");
  Values y(x.size());
  for_rows(d.rows, d.cols, [&](std::size_t, std::size_t at) {
    Mp largest = x[at], total = 0;
    for (std::size_t i = 1; i < d.n; ++i) largest = max(largest, x[at + i]);
    for (std::size_t i = 0; i < d.n; ++i) total = total + exp(x[at + i] - largest);
    for (std::size_t i = 0; i < d.n; ++i) y[at + i] = exp(x[at + i] - largest) / total;
  });
  return y;
}

Values softmax_grad_x(const OwnedProblem& p) {
  const RowDims d(p);
  const Values y = softmax(p), g = exact(p, "grad_y");
  Values out(y.size());
  for_rows(d.rows, d.cols, [&](std::size_t, std::size_t at) {
    Mp dot = 0;
    for (std::size_t i = 0; i < d.n; ++i) dot = dot + y[at + i] * g[at + i];
    for (std::size_t i = 0; i < d.n; ++i) out[at + i] = y[at + i] * (g[at + i] - dot);
  });
  return out;
}

// The RMS norms: y = x * rstd * scale(weight).
struct Rms {
  Mp offset; // added to the weight
  Values rstd(const OwnedProblem& p) const {
    const RowDims d(p);
    const Values x = exact(p, "x");
    Values out;
    for_rows(d.rows, d.cols, [&](std::size_t, std::size_t at) {
      Mp squares = 0;
      for (std::size_t i = 0; i < d.n; ++i) squares = squares + x[at + i] * x[at + i];
      out.push_back(rsqrt(squares / Mp(static_cast<double>(d.cols)) + Mp(p.problem.params[0])));
    });
    return out;
  }
  Values y(const OwnedProblem& p) const {
    const RowDims d(p);
    const Values x = exact(p, "x"), w = exact(p, "weight"), s = rstd(p);
    Values out(x.size());
    for_rows(d.rows, d.cols, [&](std::size_t r, std::size_t at) {
      for (std::size_t i = 0; i < d.n; ++i) out[at + i] = x[at + i] * s[r] * (offset + w[i]);
    });
    return out;
  }
  Values grad_x(const OwnedProblem& p) const {
    const RowDims d(p);
    const Values x = exact(p, "x"), w = exact(p, "weight"), g = exact(p, "grad_y"), s = rstd(p);
    Values out(x.size());
    for_rows(d.rows, d.cols, [&](std::size_t r, std::size_t at) {
      Mp dot = 0;
      for (std::size_t i = 0; i < d.n; ++i) dot = dot + g[at + i] * (offset + w[i]) * x[at + i];
      for (std::size_t i = 0; i < d.n; ++i)
        out[at + i] = s[r] * g[at + i] * (offset + w[i]) -
                      s[r] * s[r] * s[r] * x[at + i] * dot / Mp(static_cast<double>(d.cols));
    });
    return out;
  }
  Values grad_weight(const OwnedProblem& p) const {
    const RowDims d(p);
    const Values x = exact(p, "x"), g = exact(p, "grad_y"), s = rstd(p);
    Values out(d.n);
    for_rows(d.rows, d.cols, [&](std::size_t r, std::size_t at) {
      for (std::size_t i = 0; i < d.n; ++i) out[i] = out[i] + g[at + i] * x[at + i] * s[r];
    });
    return out;
  }
  void add_to(std::map<std::string, Truth>& all, const std::string& op) const {
    all[op + ".y"] = [*this](const OwnedProblem& p) { return y(p); };
    all[op + ".rstd"] = [*this](const OwnedProblem& p) { return rstd(p); };
    all[op + ".grad_x"] = [*this](const OwnedProblem& p) { return grad_x(p); };
    all[op + ".grad_weight"] = [*this](const OwnedProblem& p) { return grad_weight(p); };
  }
};

const std::map<std::string, Truth>& truths() {
  static const std::map<std::string, Truth> all = [] {
    std::map<std::string, Truth> t;
    t["softmax.y"] = softmax;
    t["softmax.grad_x"] = softmax_grad_x;
    Rms{1}.add_to(t, "offset_rmsnorm");
    return t;
  }();
  return all;
}

} // namespace

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
