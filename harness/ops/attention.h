// out = softmax(q k^T / sqrt(head_dim)) v for each query of each head. causal:
// query i sees the keys j with j - kv_len <= i - q_len (aligned to the last
// key); a query that sees none gives 0. The scores stay in the arithmetic type;
// the eager formula rounds the probabilities to T before the product with v.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/softmax_row.h"

namespace assay {

struct Attention {
  static constexpr auto name = "attention";
  static constexpr Dim batch{0, "batch"}, heads{1, "heads"}, q_len{2, "q_len"}, kv_len{3, "kv_len"};
  static constexpr Dim head_dim{4, "head_dim", 1};
  static constexpr Dim dims[] = {batch, heads, q_len, kv_len, head_dim};
  static constexpr auto q = TensorSpec::input(0, "q", "batch, heads, q_len, head_dim");
  static constexpr auto k = TensorSpec::input(1, "k", "batch, heads, kv_len, head_dim");
  static constexpr auto v = TensorSpec::input(2, "v", "batch, heads, kv_len, head_dim");
  static constexpr auto out = TensorSpec::output(3, "out", "batch, heads, q_len, head_dim");
  static constexpr TensorSpec tensors[] = {q, k, v, out};
  static constexpr Param causal{0, "causal", DType::i32, 0, true};
  static constexpr Param params[] = {causal};
  static constexpr bool reduces = true;
  static constexpr const char* algorithms[] = {"two_pass", "online"};

  template <class Run> static void forward(Run& run) {
    run.lines({batch, heads, q_len}, [](auto& line) {
      const auto b = line.index(0), h = line.index(1), i = line.index(2), d = line.size(head_dim);
      const auto last =
          line.param(causal) == 0 ? line.size(kv_len) : line.size(kv_len) - line.size(q_len) + i + 1;
      const auto seen = last > 0 ? last : 0;
      const auto scale = rsqrt(line.number(d));
      const auto scores = line.scratch(seen);
      line.each(seen, [&](auto j) {
        const auto term = [&](auto l) { return line.load(q, {b, h, i, l}) * line.load(k, {b, h, j, l}); };
        scores[j] = line.sum(d, term) * scale;
      });
      const auto row = [&](auto j) { return scores[j]; };
      if (line.algorithm() == online && seen > 0) return attend_online(line, {b, h, i}, seen, row);
      const auto p = softmax_row(line, seen, row);
      line.each(seen, [&](auto j) { p[j] = line.round(p[j]); });
      line.each(d, [&](auto l) {
        line.store(out, {b, h, i, l},
                   line.sum(seen, [&](auto j) { return p[j] * line.load(v, {b, h, j, l}); }));
      });
    });
  }

 private:
  struct Query {
    long long batch, head, index;
  };
  // v weighed by exp(score - maximum), divided once at the end: no rounding to
  // T before that, and sums that are not yet normalised.
  template <class Line, class Row>
  static void attend_online(Line& line, Query query, long long seen, const Row& row) {
    const auto state = online_state(line, seen, row);
    const auto weight = line.scratch(seen);
    line.each(seen, [&](auto j) { weight[j] = exp(row(j) - state.largest); });
    line.each(line.size(head_dim), [&](auto l) {
      const auto value = [&](auto j) { return line.load(v, {query.batch, query.head, j, l}); };
      const auto sum = line.sum(seen, [&](auto j) { return weight[j] * value(j); });
      // While the maximum still rises weights may be as large as 1: what such sums may reach.
      const auto reach = line.sum(seen, [&](auto j) { return abs(value(j)); });
      const bool overflows = reach == reach + reach && !(reach == line.number(0));
      line.store(out, {query.batch, query.head, query.index, l}, (overflows ? reach : sum) / state.total);
    });
  }
};

} // namespace assay
