// out = softmax(q k^T / sqrt(head_dim)) v for each query of each head. causal:
// query i sees the keys j with j - kv_len <= i - q_len (aligned to the last
// key); a query that sees none gives 0. The scores stay in the arithmetic type;
// the eager formula rounds the probabilities to T before the product with v.
//
// Legal besides: the query scaled before the product with k, and its factor
// taken times log2(e), for exp2 of the scores' differences. A score is a
// rounded sum either way, and the factor moves it by some units of roundoff
// more; where products cancel, or come out exact, the sum does not. Not legal:
// the scaled query rounded to T (a premature cast: a score of 100 is then off
// by up to 0.4 in bf16), which changes nothing where the scale is a power of 2.
// Keys in tiles or splits: attention_parts.h.
#pragma once

#include "harness/ops/attention_parts.h"
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
  enum : int { // beside two_pass and online
    weights_rounded = 2,
    query_scaled,
    query_scaled_exp2,
    in_tiles,
    in_splits,
    by_logsumexp,
    by_powers,
    by_powers_rounded,
    by_powers_lazily,
  };
  static constexpr const char* algorithms[] = {"two_pass",
                                               "online",
                                               "online, weights rounded",
                                               "online, query scaled",
                                               "online, query scaled, exp2",
                                               "tiles, normalised",
                                               "splits, normalised",
                                               "splits, logsumexp",
                                               "tiles, exp2 of a fused multiply-add",
                                               "tiles, exp2 of a fused multiply-add, weights rounded",
                                               "tiles, maximum raised lazily, weights rounded"};

  template <class Run> static void forward(Run& run) {
    run.lines({batch, heads, q_len}, [](auto& line) {
      const auto i = line.index(2), d = line.size(head_dim);
      const auto last =
          line.param(causal) == 0 ? line.size(kv_len) : line.size(kv_len) - line.size(q_len) + i + 1;
      const auto seen = last > 0 ? last : 0;
      const Query query{line.index(0), line.index(1), i};
      const bool scales_query = line.algorithm() == query_scaled || line.algorithm() == query_scaled_exp2;
      const auto scores =
          scales_query ? sums_of_scaled(line, query, seen, d) : sums_scaled(line, query, seen, d);
      const auto row = [&](auto j) { return scores[j]; };
      if (line.algorithm() >= in_tiles && seen > 0) return attend_in_parts(line, query, seen, row);
      if (line.algorithm() != two_pass && seen > 0) return attend_online(line, query, seen, row);
      mark_lost_exponents(line, seen, scores);
      const auto p = softmax_row(line, seen, row);
      line.each(seen, [&](auto j) { p[j] = line.round(p[j]); });
      line.each(d, [&](auto l) {
        const auto term = [&](auto j) { return p[j] * line.load(v, {query.batch, query.head, j, l}); };
        line.store(out, {query.batch, query.head, i, l}, line.sum(seen, term));
      });
    });
  }

 private:
  struct Query {
    long long batch, head, index;
  };

  template <class Line> static auto load_q(const Line& line, Query query, long long l) {
    return line.load(q, {query.batch, query.head, query.index, l});
  }
  template <class Line> static auto load_k(const Line& line, Query query, long long j, long long l) {
    return line.load(k, {query.batch, query.head, j, l});
  }

  template <class Line> static bool is_by_powers(const Line& line) { return line.algorithm() >= by_powers; }

  // By powers the factor comes later.
  template <class Line> static auto sums_scaled(Line& line, Query query, long long seen, long long d) {
    using Number = typename Line::Number;
    const Number scale = is_by_powers(line) ? Number(1) : rsqrt(line.number(d));
    const auto scores = line.scratch(seen);
    line.each(seen, [&](auto j) {
      const auto term = [&](auto l) { return load_q(line, query, l) * load_k(line, query, j, l); };
      scores[j] = line.sum(d, term) * scale;
    });
    return scores;
  }
  template <class Line> static auto sums_of_scaled(Line& line, Query query, long long seen, long long d) {
    using Number = typename Line::Number;
    const Number scale = rsqrt(line.number(d));
    const Number factor = base_of(line) == Base::e ? scale : Number(scale * Number(log2_of_e));
    const auto scaled = line.scratch(d);
    line.each(d, [&](auto l) { scaled[l] = load_q(line, query, l) * factor; });
    const auto scores = line.scratch(seen);
    line.each(seen, [&](auto j) {
      scores[j] = line.sum(d, [&](auto l) { return scaled[l] * load_k(line, query, j, l); });
    });
    return scores;
  }
  template <class Line> static Base base_of(const Line& line) {
    return line.algorithm() == query_scaled_exp2 ? Base::two : Base::e;
  }

  // 2^(x c - m c), x the maximum itself, is 2 to what rounding left of m c, half a unit in its last place
  // (under random rounding of both products two units), and up to 8 more: that may overflow, or the power's
  // rounding to T.
  template <class Line, class Numbers>
  static void mark_lost_exponents(const Line& line, long long seen, Numbers scores) {
    if constexpr (Line::is_golden) {
      const bool is_wide = Line::Number::largest > 0x1p200; // up to 2^1024, of 53 bits; else 2^128, of 24
      const bool is_f16 = line.round(line.number(0x1p16)).overflowed();
      const double range = is_wide ? 0x1p61 : is_f16 ? 0x1p25 : 0x1p29;
      line.each(seen, [&](auto j) {
        if (scores[j].finite() && !(__builtin_fabs(scores[j].value().high) * log2_of_e.high < range))
          scores[j].mark_overflow();
      });
    }
  }

  template <class Line, class Row>
  static void attend_in_parts(Line& line, Query query, long long seen, const Row& row) {
    using Number = typename Line::Number;
    const auto value = [&](long long j, long long l) {
      return line.load(v, {query.batch, query.head, j, l});
    };
    const auto store = [&](long long l, const Number& result) {
      line.store(out, {query.batch, query.head, query.index, l}, result);
    };
    const SeenKeys keys{seen, line.part(line.size(kv_len)), line.size(head_dim), row, value, store};
    switch (line.algorithm()) {
    case in_tiles:
      return attend_in_tiles(line, keys);
    case in_splits:
      return attend_in_splits(line, keys);
    case by_logsumexp:
      return attend_by_logsumexp(line, keys);
    default:
      const Number factor = rsqrt(line.number(line.size(head_dim))) * Number(log2_of_e);
      return attend_by_powers(
          line, keys, factor,
          {.rounds = line.algorithm() != by_powers, .lazily = line.algorithm() == by_powers_lazily});
    }
  }

  // v weighed by exp(score - maximum), divided once at the end: sums that are
  // not yet normalised. Weights rounded to T, as tensor cores take them, are as
  // legal as the probabilities' rounding; their own sum is not rounded.
  template <class Line, class Row>
  static void attend_online(Line& line, Query query, long long seen, const Row& row) {
    const auto base = base_of(line);
    const auto state = online_state(line, seen, row, base);
    const auto weight = line.scratch(seen);
    line.each(seen, [&](auto j) {
      weight[j] = power(row(j) - state.largest, base);
      if (line.algorithm() == weights_rounded) weight[j] = line.round(weight[j]);
    });
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
