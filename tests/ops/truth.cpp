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

// y = f(x), grad_x = grad_y * slope(x).
void add_elementwise(std::map<std::string, Truth>& all, const std::string& op, Mp (*f)(const Mp&),
                     Mp (*slope)(const Mp&)) {
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

// One value for each row of x.
template <class F> Truth by_row(F f) {
  return [f](const OwnedProblem& p) {
    const RowDims d(p);
    const Values x = exact(p, "x");
    Values out;
    for_rows(d.rows, d.cols, [&](std::size_t, std::size_t at) {
      out.push_back(f(Values(x.begin() + static_cast<std::ptrdiff_t>(at),
                             x.begin() + static_cast<std::ptrdiff_t>(at + d.n))));
    });
    return out;
  };
}
Mp sum_of(const Values& row) {
  Mp total = 0;
  for (const Mp& x : row) total = total + x;
  return total;
}
Mp count_of(const Values& row) { return static_cast<double>(row.size()); }
Mp variance_of(const Values& row) {
  const Mp mean = sum_of(row) / count_of(row);
  Mp squares = 0;
  for (const Mp& x : row) squares = squares + (x - mean) * (x - mean);
  return squares / count_of(row);
}
Mp largest_of(const Values& row) {
  Mp largest = row[0];
  for (const Mp& x : row) largest = max(largest, x);
  return largest;
}
// log sum exp(x - max), which may be tiny: log1p of what the others add to the
// largest's 1.
Mp log_total_of(const Values& row) {
  const Mp largest = largest_of(row);
  Mp others = 0;
  bool left_out = false;
  for (const Mp& x : row) {
    if (!left_out && largest <= x) {
      left_out = true;
    } else {
      others = others + exp(x - largest);
    }
  }
  return log1p(others);
}
Mp logsumexp_of(const Values& row) { return largest_of(row) + log_total_of(row); }

Values row_of(const Values& x, std::size_t r, std::size_t n) {
  const auto begin = x.begin() + static_cast<std::ptrdiff_t>(r * n);
  return {begin, begin + static_cast<std::ptrdiff_t>(n)};
}

Values log_softmax(const OwnedProblem& p) {
  const RowDims d(p);
  Values x = exact(p, "x");
  for_rows(d.rows, d.cols, [&](std::size_t r, std::size_t at) {
    const Values row = row_of(x, r, d.n);
    const Mp largest = largest_of(row), log_total = log_total_of(row);
    for (std::size_t i = 0; i < d.n; ++i) x[at + i] = (x[at + i] - largest) - log_total;
  });
  return x;
}

Values log_softmax_grad_x(const OwnedProblem& p) {
  const RowDims d(p);
  const Values y = log_softmax(p);
  Values g = exact(p, "grad_y");
  for_rows(d.rows, d.cols, [&](std::size_t r, std::size_t at) {
    const Mp total = sum_of(row_of(g, r, d.n));
    for (std::size_t i = 0; i < d.n; ++i) g[at + i] = g[at + i] - exp(y[at + i]) * total;
  });
  return g;
}

Values masked_softmax(const OwnedProblem& p) {
  const RowDims d(p);
  const Values x = exact(p, "x"), mask = exact(p, "mask");
  Values y(x.size());
  for_rows(d.rows, d.cols, [&](std::size_t, std::size_t at) {
    Values kept;
    for (std::size_t i = at; i < at + d.n; ++i)
      if (mask[i] > 0) kept.push_back(x[i]);
    if (kept.empty()) return;
    const Mp largest = largest_of(kept), log_total = log_total_of(kept);
    for (std::size_t i = at; i < at + d.n; ++i)
      if (mask[i] > 0) y[i] = exp((x[i] - largest) - log_total);
  });
  return y;
}

Values cross_entropy(const OwnedProblem& p) {
  const RowDims d(p, "classes");
  const Values x = exact(p, "logits");
  const std::vector<double> target = p.values("target");
  Values loss;
  for (std::size_t r = 0; r < target.size(); ++r) {
    const Values row = row_of(x, r, d.n);
    loss.push_back(target[r] == -100
                       ? Mp(0)
                       : (largest_of(row) - row[static_cast<std::size_t>(target[r])]) + log_total_of(row));
  }
  return loss;
}

Values cross_entropy_grad(const OwnedProblem& p) {
  const RowDims d(p, "classes");
  const Values x = exact(p, "logits"), g = exact(p, "grad_loss");
  const std::vector<double> target = p.values("target");
  Values out;
  for (std::size_t r = 0; r < target.size(); ++r) {
    const Values row = row_of(x, r, d.n);
    const Mp largest = largest_of(row), log_total = log_total_of(row);
    for (std::size_t i = 0; i < d.n; ++i) {
      Mp value = exp((row[i] - largest) - log_total);
      if (static_cast<double>(i) == target[r]) value = value - 1;
      out.push_back(target[r] == -100 ? Mp(0) : g[r] * value);
    }
  }
  return out;
}

struct LayernormTruth {
  std::vector<Values> z; // by row
  Values mean, rstd;
  RowDims d;
  explicit LayernormTruth(const OwnedProblem& p) : d(p) {
    const Values x = exact(p, "x");
    for (std::size_t r = 0; r < static_cast<std::size_t>(d.rows); ++r) {
      const Values row = row_of(x, r, d.n);
      mean.push_back(sum_of(row) / count_of(row));
      rstd.push_back(rsqrt(variance_of(row) + Mp(p.problem.params[0])));
      z.emplace_back();
      for (const Mp& v : row) z.back().push_back((v - mean.back()) * rstd.back());
    }
  }
  Values y(const OwnedProblem& p) const {
    const Values w = exact(p, "weight"), b = exact(p, "bias");
    Values out;
    for (const Values& row : z)
      for (std::size_t i = 0; i < d.n; ++i) out.push_back(row[i] * w[i] + b[i]);
    return out;
  }
  Values grad_x(const OwnedProblem& p) const {
    const Values w = exact(p, "weight"), g = exact(p, "grad_y");
    Values out;
    for (std::size_t r = 0; r < z.size(); ++r) {
      Mp total = 0, projected = 0;
      for (std::size_t i = 0; i < d.n; ++i) {
        total = total + g[r * d.n + i] * w[i];
        projected = projected + g[r * d.n + i] * w[i] * z[r][i];
      }
      for (std::size_t i = 0; i < d.n; ++i)
        out.push_back(rstd[r] *
                      (g[r * d.n + i] * w[i] - (total + z[r][i] * projected) / Mp(static_cast<double>(d.n))));
    }
    return out;
  }
  Values grad_weight(const OwnedProblem& p, bool with_z) const {
    const Values g = exact(p, "grad_y");
    Values out(d.n);
    for (std::size_t r = 0; r < z.size(); ++r)
      for (std::size_t i = 0; i < d.n; ++i)
        out[i] = out[i] + (with_z ? g[r * d.n + i] * z[r][i] : g[r * d.n + i]);
    return out;
  }
};

Values l2_normalize(const OwnedProblem& p) {
  const RowDims d(p);
  Values x = exact(p, "x");
  for_rows(d.rows, d.cols, [&](std::size_t, std::size_t at) {
    Mp squares = 0;
    for (std::size_t i = at; i < at + d.n; ++i) squares = squares + x[i] * x[i];
    const Mp norm = max(sqrt(squares), Mp(p.problem.params[0]));
    for (std::size_t i = at; i < at + d.n; ++i) x[i] = x[i] / norm;
  });
  return x;
}

Values cumsum(const OwnedProblem& p) {
  const RowDims d(p);
  Values x = exact(p, "x");
  for_rows(d.rows, d.cols, [&](std::size_t, std::size_t at) {
    for (std::size_t i = at + 1; i < at + d.n; ++i) x[i] = x[i - 1] + x[i];
  });
  return x;
}

Values gemm(const OwnedProblem& p, bool transposed) {
  const Values a = exact(p, "a"), b = exact(p, "b");
  const auto m = static_cast<std::size_t>(p.dim("m")), n = static_cast<std::size_t>(p.dim("n")),
             k = static_cast<std::size_t>(p.dim("k"));
  Values c(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < k; ++l)
        c[i * n + j] = c[i * n + j] + a[i * k + l] * b[transposed ? j * k + l : l * n + j];
  return c;
}

Values attention(const OwnedProblem& p) {
  const Values q = exact(p, "q"), k = exact(p, "k"), v = exact(p, "v");
  const auto heads = static_cast<std::size_t>(p.dim("batch") * p.dim("heads"));
  const auto nq = static_cast<std::size_t>(p.dim("q_len")), nk = static_cast<std::size_t>(p.dim("kv_len")),
             d = static_cast<std::size_t>(p.dim("head_dim"));
  const bool causal = p.problem.params[0] != 0;
  Values out(q.size());
  for (std::size_t h = 0; h < heads; ++h)
    for (std::size_t i = 0; i < nq; ++i) {
      Values scores;
      for (std::size_t j = 0; j < nk && (!causal || j + nq <= i + nk); ++j) {
        Mp dot = 0;
        for (std::size_t l = 0; l < d; ++l) dot = dot + q[(h * nq + i) * d + l] * k[(h * nk + j) * d + l];
        scores.push_back(dot / sqrt(Mp(static_cast<double>(d))));
      }
      if (scores.empty()) continue;
      const Mp largest = largest_of(scores), log_total = log_total_of(scores);
      for (std::size_t j = 0; j < scores.size(); ++j)
        for (std::size_t l = 0; l < d; ++l)
          out[(h * nq + i) * d + l] =
              out[(h * nq + i) * d + l] + exp((scores[j] - largest) - log_total) * v[(h * nk + j) * d + l];
    }
  return out;
}

Values causal_conv1d(const OwnedProblem& p) {
  const Values x = exact(p, "x"), w = exact(p, "weight"), bias = exact(p, "bias");
  const std::int64_t channels = p.dim("channels"), length = p.dim("length"), width = p.dim("width");
  Values y(x.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto c = static_cast<std::int64_t>(i) / length % channels,
               t = static_cast<std::int64_t>(i) % length;
    y[i] = bias[static_cast<std::size_t>(c)];
    for (std::int64_t j = 0; j < width; ++j) {
      const std::int64_t back = width - 1 - j;
      if (t >= back)
        y[i] = y[i] + w[static_cast<std::size_t>(c * width + j)] * x[i - static_cast<std::size_t>(back)];
    }
  }
  return y;
}

Values scatter_add_rows(const OwnedProblem& p) {
  const Values x = exact(p, "x");
  const auto cols = static_cast<std::size_t>(p.dim("cols"));
  Values y(static_cast<std::size_t>(p.dim("table_rows")) * cols);
  const std::vector<double> index = p.values("index");
  for (std::size_t r = 0; r < index.size(); ++r)
    for (std::size_t i = 0; i < cols; ++i) {
      Mp& to = y[static_cast<std::size_t>(index[r]) * cols + i];
      to = to + x[r * cols + i];
    }
  return y;
}

// forward: rotate; else the transposed rotation.
Values rope(const OwnedProblem& p, std::string_view from, std::string_view heads_dim, bool forward) {
  const Values x = exact(p, from), cache = exact(p, "cache");
  const std::vector<double> positions = p.values("positions");
  const auto heads = static_cast<std::size_t>(p.dim(heads_dim)),
             d = static_cast<std::size_t>(p.dim("head_dim"));
  Values out(x.size());
  for (std::size_t at = 0; at < x.size(); ++at) {
    const std::size_t i = at % d, token = at / d / heads;
    const std::size_t row = static_cast<std::size_t>(positions[token]) * 2 * d;
    const bool first = i < d / 2;
    const std::size_t partner = first ? at + d / 2 : at - d / 2, partner_i = first ? i + d / 2 : i - d / 2;
    const Mp cos = cache[row + i], sin = forward ? cache[row + d + i] : cache[row + d + partner_i];
    const Mp turned = x[partner] * sin;
    out[at] = x[at] * cos + (first == forward ? Mp(0) - turned : turned);
  }
  return out;
}

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

const std::map<std::string, Truth>& truths() {
  static const std::map<std::string, Truth> all = [] {
    std::map<std::string, Truth> t;
    t["softmax.y"] = softmax;
    t["softmax.grad_x"] = softmax_grad_x;
    Rms{1}.add_to(t, "offset_rmsnorm");
    Rms{0}.add_to(t, "rmsnorm");
    add_elementwise(t, "sigmoid", sigmoid, [](const Mp& x) { return sigmoid(x) * sigmoid(Mp(0) - x); });
    add_elementwise(t, "tanh", [](const Mp& x) { return tanh(x); }, tanh_slope);
    add_elementwise(t, "silu", silu, silu_slope);
    add_elementwise(t, "gelu_erf", gelu_erf, gelu_erf_slope);
    add_elementwise(t, "gelu_tanh", gelu_tanh, gelu_tanh_slope);
    for (const std::string output : {"y", "grad_gate", "grad_up"})
      t["swiglu." + output] = [output](const OwnedProblem& p) { return swiglu(p, output); };
    t["add.y"] = [](const OwnedProblem& p) {
      Values a = exact(p, "a");
      const Values b = exact(p, "b");
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] + b[i];
      return a;
    };
    t["sum.y"] = by_row(sum_of);
    t["mean.y"] = by_row([](const Values& row) { return sum_of(row) / count_of(row); });
    t["variance.y"] = by_row(variance_of);
    t["logsumexp.y"] = by_row(logsumexp_of);
    t["cumsum.y"] = cumsum;
    t["log_softmax.y"] = log_softmax;
    t["log_softmax.grad_x"] = log_softmax_grad_x;
    t["masked_softmax.y"] = masked_softmax;
    t["cross_entropy.loss"] = cross_entropy;
    t["cross_entropy.grad_logits"] = cross_entropy_grad;
    t["layernorm.y"] = [](const OwnedProblem& p) { return LayernormTruth(p).y(p); };
    t["layernorm.mean"] = [](const OwnedProblem& p) { return LayernormTruth(p).mean; };
    t["layernorm.rstd"] = [](const OwnedProblem& p) { return LayernormTruth(p).rstd; };
    t["layernorm.grad_x"] = [](const OwnedProblem& p) { return LayernormTruth(p).grad_x(p); };
    t["layernorm.grad_weight"] = [](const OwnedProblem& p) { return LayernormTruth(p).grad_weight(p, true); };
    t["layernorm.grad_bias"] = [](const OwnedProblem& p) { return LayernormTruth(p).grad_weight(p, false); };
    t["l2_normalize.y"] = l2_normalize;
    t["gemm.c"] = [](const OwnedProblem& p) { return gemm(p, false); };
    t["gemm_nt.c"] = [](const OwnedProblem& p) { return gemm(p, true); };
    t["attention.out"] = attention;
    t["causal_conv1d.y"] = causal_conv1d;
    t["scatter_add_rows.y"] = scatter_add_rows;
    t["rope.q_out"] = [](const OwnedProblem& p) { return rope(p, "q", "q_heads", true); };
    t["rope.k_out"] = [](const OwnedProblem& p) { return rope(p, "k", "k_heads", true); };
    t["rope.grad_q"] = [](const OwnedProblem& p) { return rope(p, "grad_q_out", "q_heads", false); };
    t["rope.grad_k"] = [](const OwnedProblem& p) { return rope(p, "grad_k_out", "k_heads", false); };
    t["dequantize_rows_i8.y"] = [](const OwnedProblem& p) {
      Values q = exact(p, "q");
      const Values scale = exact(p, "scale");
      const auto cols = static_cast<std::size_t>(p.dim("cols"));
      for (std::size_t i = 0; i < q.size(); ++i) q[i] = q[i] * scale[i / cols];
      return q;
    };
    t["quantize_rows_i8.scale"] = by_row([](const Values& row) {
      Values sizes;
      for (const Mp& x : row) sizes.push_back(abs(x));
      return largest_of(sizes) / 127;
    });
    t["cast_f8_e4m3.y"] = [](const OwnedProblem& p) { return exact(p, "x"); };
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
