#include "tests/ops/truth_table.h"

namespace assay::testing {
namespace {

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
} // namespace

void add_tensor_truths(TruthTable& all) {
  all["gemm.c"] = [](const OwnedProblem& p) { return gemm(p, false); };
  all["gemm_nt.c"] = [](const OwnedProblem& p) { return gemm(p, true); };
  all["attention.out"] = attention;
  all["causal_conv1d.y"] = causal_conv1d;
  all["scatter_add_rows.y"] = scatter_add_rows;
  all["rope.q_out"] = [](const OwnedProblem& p) { return rope(p, "q", "q_heads", true); };
  all["rope.k_out"] = [](const OwnedProblem& p) { return rope(p, "k", "k_heads", true); };
  all["rope.grad_q"] = [](const OwnedProblem& p) { return rope(p, "grad_q_out", "q_heads", false); };
  all["rope.grad_k"] = [](const OwnedProblem& p) { return rope(p, "grad_k_out", "k_heads", false); };
}

} // namespace assay::testing
