#include "tests/ops/truth_table.h"

namespace assay::testing {
namespace {

// y = f(x), grad_x = grad_y * slope(x).
void add_elementwise(TruthTable& all, const std::string& op, Mp (*f)(const Mp&), Mp (*slope)(const Mp&)) {
  all[op + ".y"] = [f](const OwnedProblem& p) {
    Values y;
    for (const Mp& x : exact(p, "x")) y.push_back(f(x));
    return y;
  };
  all[op + ".grad_x"] = [slope](const OwnedProblem& p) {
    const Values x = exact(p, "x"), g = exact(p, "grad_y");
    Values out;
    for (std::size_t i = 0; i < x.size(); ++i) out.push_back(g[i] * slope(x[i]));
    return out;
  };
}

const Mp one = 1;
const Mp pi() { return atan(one) * 4; }
Mp sigmoid(const Mp& x) { return one / (one + exp(Mp(0) - x)); }
Mp silu(const Mp& x) { return x * sigmoid(x); }
Mp silu_slope(const Mp& x) { return sigmoid(x) + x * sigmoid(x) * sigmoid(Mp(0) - x); }
Mp gelu_erf(const Mp& x) { return x * erfc(Mp(0) - x / sqrt(Mp(2))) / 2; }
Mp gelu_erf_slope(const Mp& x) {
  return erfc(Mp(0) - x / sqrt(Mp(2))) / 2 + x * exp(Mp(0) - x * x / 2) / sqrt(pi() * 2);
}
Mp gelu_u(const Mp& x) { return sqrt(Mp(2) / pi()) * (x + Mp(44715) / Mp(1000000) * x * x * x); }
Mp gelu_tanh(const Mp& x) { return x * sigmoid(gelu_u(x) * 2); }
Mp gelu_tanh_slope(const Mp& x) {
  const Mp v = gelu_u(x) * 2, dv = sqrt(Mp(2) / pi()) * (Mp(2) + Mp(6) * Mp(44715) / Mp(1000000) * x * x);
  return sigmoid(v) + x * sigmoid(v) * sigmoid(Mp(0) - v) * dv;
}
Mp tanh_slope(const Mp& x) { return Mp(4) * sigmoid(x * 2) * sigmoid(Mp(0) - x * 2); }

Values swiglu(const OwnedProblem& p, std::string_view output) {
  const Values gate = exact(p, "gate"), up = exact(p, "up");
  const Values g = output == "y" ? Values(gate.size(), Mp(1)) : exact(p, "grad_y");
  Values out;
  for (std::size_t i = 0; i < gate.size(); ++i) {
    if (output == "y") out.push_back(silu(gate[i]) * up[i]);
    if (output == "grad_gate") out.push_back(g[i] * up[i] * silu_slope(gate[i]));
    if (output == "grad_up") out.push_back(g[i] * silu(gate[i]));
  }
  return out;
}
} // namespace

void add_elementwise_truths(TruthTable& all) {
  add_elementwise(all, "sigmoid", sigmoid, [](const Mp& x) { return sigmoid(x) * sigmoid(Mp(0) - x); });
  add_elementwise(all, "tanh", [](const Mp& x) { return tanh(x); }, tanh_slope);
  add_elementwise(all, "silu", silu, silu_slope);
  add_elementwise(all, "gelu_erf", gelu_erf, gelu_erf_slope);
  add_elementwise(all, "gelu_tanh", gelu_tanh, gelu_tanh_slope);
  for (const std::string output : {"y", "grad_gate", "grad_up"})
    all["swiglu." + output] = [output](const OwnedProblem& p) { return swiglu(p, output); };
  all["add.y"] = [](const OwnedProblem& p) {
    Values a = exact(p, "a");
    const Values b = exact(p, "b");
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] + b[i];
    return a;
  };
  all["dequantize_rows_i8.y"] = [](const OwnedProblem& p) {
    Values q = exact(p, "q");
    const Values scale = exact(p, "scale");
    const auto cols = static_cast<std::size_t>(p.dim("cols"));
    for (std::size_t i = 0; i < q.size(); ++i) q[i] = q[i] * scale[i / cols];
    return q;
  };
  all["cast_f8_e4m3.y"] = [](const OwnedProblem& p) { return exact(p, "x"); };
}

} // namespace assay::testing
