#include "tests/ops/truth_table.h"

namespace assay::testing {
namespace {

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
  void add_to(TruthTable& all, const std::string& op) const {
    all[op + ".y"] = [*this](const OwnedProblem& p) { return y(p); };
    all[op + ".rstd"] = [*this](const OwnedProblem& p) { return rstd(p); };
    all[op + ".grad_x"] = [*this](const OwnedProblem& p) { return grad_x(p); };
    all[op + ".grad_weight"] = [*this](const OwnedProblem& p) { return grad_weight(p); };
  }
};

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
} // namespace

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

void add_row_truths(TruthTable& all) {
  all["softmax.y"] = softmax;
  all["softmax.grad_x"] = softmax_grad_x;
  Rms{1}.add_to(all, "offset_rmsnorm");
  Rms{0}.add_to(all, "rmsnorm");
  all["sum.y"] = by_row(sum_of);
  all["mean.y"] = by_row([](const Values& row) { return sum_of(row) / count_of(row); });
  all["variance.y"] = by_row(variance_of);
  all["logsumexp.y"] = by_row(logsumexp_of);
  all["cumsum.y"] = cumsum;
  all["log_softmax.y"] = log_softmax;
  all["log_softmax.grad_x"] = log_softmax_grad_x;
  all["masked_softmax.y"] = masked_softmax;
  all["cross_entropy.loss"] = cross_entropy;
  all["cross_entropy.grad_logits"] = cross_entropy_grad;
  all["layernorm.y"] = [](const OwnedProblem& p) { return LayernormTruth(p).y(p); };
  all["layernorm.mean"] = [](const OwnedProblem& p) { return LayernormTruth(p).mean; };
  all["layernorm.rstd"] = [](const OwnedProblem& p) { return LayernormTruth(p).rstd; };
  all["layernorm.grad_x"] = [](const OwnedProblem& p) { return LayernormTruth(p).grad_x(p); };
  all["layernorm.grad_weight"] = [](const OwnedProblem& p) { return LayernormTruth(p).grad_weight(p, true); };
  all["layernorm.grad_bias"] = [](const OwnedProblem& p) { return LayernormTruth(p).grad_weight(p, false); };
  all["l2_normalize.y"] = l2_normalize;
  all["quantize_rows_i8.scale"] = by_row([](const Values& row) {
    Values sizes;
    for (const Mp& x : row) sizes.push_back(abs(x));
    return largest_of(sizes) / 127;
  });
}

} // namespace assay::testing
