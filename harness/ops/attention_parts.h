// Attention of one query whose keys are dealt to parts: tiles one after the other, or splits that other
// blocks take. Each part has a maximum m_t, a sum s_t of exp(x - m_t), and a sum of v by those weights; m and
// s are the merged ones.
//
// in_tiles: the output is normalised after every tile, o' = (s e^(m - m') o + e^(m_t - m') sum e^(x - m_t) v)
// / s' (Dao et al., FlashAttention, NeurIPS 2022, algorithm 1).
//
// in_splits: the probabilities of each split, rounded to T, give its output o_t; then the sum of
// s_t e^(m_t - m) o_t / s (vLLM's PagedAttention v2).
//
// by_logsumexp: o_t is normalised; then the sum of e^(lse_t - lse) o_t, where lse_t = m_t + log(s_t) and
// their own logsumexp are rounded as a score of that size is: what cancels elsewhere does not here (decoding
// in FlashAttention and FlashInfer).
//
// by_powers: a score times c = log2(e) / sqrt(head_dim) meets the rounded product of c and the maximum so far
// in one fused multiply-add, 2^(x c - m c). That rounding is common to a tile, and does not cancel against
// what an earlier maximum left (FlashAttention-2). Lazily: a maximum stays until it is passed by more than 8
// in powers of two, so that weights reach 2^8 (FlashAttention-4).
//
// Of the last two no exponent errs by more than the rounding of a score as large. Not legal: to rescale what
// earlier tiles left by 2^(m c - m' c) fused likewise, which is not 1 where the maximum stays, so that every
// further tile adds that rounding again.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/softmax_row.h"

namespace assay {

// x as it stands, where what follows is right for any x: a maximum, which cancels from weights and their sum,
// or a divisor that is multiplied again.
template <class Number> Number as_computed(const Number& x) {
  if constexpr (requires { x.as_computed(); })
    return x.as_computed();
  else
    return x;
}

// The keys that one query sees, in parts of `part`: score(j) and value(j, l) of key j < seen; store(l, v)
// takes the output, l < width. seen >= 1.
template <class Score, class Value, class Store> struct SeenKeys {
  long long seen, part, width;
  Score score;
  Value value;
  Store store;

  long long parts() const { return (seen + part - 1) / part; }
  long long begin(long long t) const { return t * part; }
  long long size(long long t) const { return seen - begin(t) < part ? seen - begin(t) : part; }
};
template <class Score, class Value, class Store>
SeenKeys(long long, long long, long long, Score, Value, Store) -> SeenKeys<Score, Value, Store>;

template <class Numbers> struct PartialSoftmax {
  Numbers weight;         // of each key: exp(x - m_t)
  Numbers largest, total; // of each part: m_t and s_t
};

template <class Line, class Keys> auto partial_softmax(Line& line, const Keys& keys) {
  PartialSoftmax partial{line.scratch(keys.seen), line.scratch(keys.parts()), line.scratch(keys.parts())};
  line.each(keys.parts(), [&](auto t) {
    const auto begin = keys.begin(t), n = keys.size(t);
    const typename Line::Number largest = line.max(n, [&](auto i) { return keys.score(begin + i); });
    partial.largest[t] = as_computed(largest);
    line.each(
        n, [&](auto i) { partial.weight[begin + i] = rescale(keys.score(begin + i), partial.largest[t]); });
    partial.total[t] = line.sum(n, [&](auto i) { return partial.weight[begin + i]; });
  });
  return partial;
}

// The sum of v by `weight` over part t, of output l.
template <class Line, class Keys, class Numbers>
auto weighed(const Line& line, const Keys& keys, const Numbers& weight, long long t, long long l) {
  const auto begin = keys.begin(t);
  return line.sum(keys.size(t), [&](auto i) { return weight[begin + i] * keys.value(begin + i, l); });
}

template <class Line, class Keys> void attend_in_tiles(Line& line, const Keys& keys) {
  using Number = typename Line::Number;
  const auto tile = partial_softmax(line, keys);
  const auto output = line.scratch(keys.width);
  Number largest = tile.largest[0], total = tile.total[0];
  line.each(keys.width,
            [&](auto l) { output[l] = weighed(line, keys, tile.weight, 0, l) / as_computed(total); });
  for (long long t = 1; t < keys.parts(); ++t) {
    const Number top = maximum(largest, tile.largest[t]);
    const Number before = rescale(largest, top), now = rescale(tile.largest[t], top);
    const Number kept = as_computed(total) * before;
    const Number sum = total * before + now * tile.total[t];
    line.each(keys.width, [&](auto l) {
      const Number both = kept * output[l] + now * weighed(line, keys, tile.weight, t, l);
      output[l] = both / as_computed(sum);
    });
    largest = top, total = sum;
  }
  const Number own = as_computed(total) / total; // 1: brings the total's own error into a bound
  line.each(keys.width, [&](auto l) { keys.store(l, output[l] * own); });
}

template <class Line, class Keys> void attend_in_splits(Line& line, const Keys& keys) {
  using Number = typename Line::Number;
  const auto split = partial_softmax(line, keys);
  const auto share = line.scratch(keys.parts());
  const Number largest = line.max(keys.parts(), [&](auto t) { return split.largest[t]; });
  line.each(keys.parts(), [&](auto t) {
    share[t] = split.total[t] * rescale(split.largest[t], largest);
    line.each(keys.size(t), [&](auto i) {
      auto& weight = split.weight[keys.begin(t) + i];
      weight = line.round(weight / split.total[t]);
    });
  });
  const Number total = line.sum(keys.parts(), [&](auto t) { return share[t]; });
  line.each(keys.width, [&](auto l) {
    const auto term = [&](auto t) { return share[t] * weighed(line, keys, split.weight, t, l); };
    keys.store(l, line.sum(keys.parts(), term) / total);
  });
}

template <class Line, class Keys> void attend_by_logsumexp(Line& line, const Keys& keys) {
  using Number = typename Line::Number;
  const auto split = partial_softmax(line, keys);
  const auto share = line.scratch(keys.parts());
  line.each(keys.parts(), [&](auto t) { share[t] = split.largest[t] + log(split.total[t]); });
  const Number largest = line.max(keys.parts(), [&](auto t) { return share[t]; });
  const Number total = line.sum(keys.parts(), [&](auto t) { return rescale(Number(share[t]), largest); });
  const Number whole = largest + log(total);
  line.each(keys.parts(), [&](auto t) { share[t] = rescale(Number(share[t]), whole); });
  line.each(keys.width, [&](auto l) {
    const auto term = [&](auto t) {
      return share[t] * Number(weighed(line, keys, split.weight, t, l) / split.total[t]);
    };
    keys.store(l, line.sum(keys.parts(), term));
  });
}

struct PowersOfTwo {
  bool rounds = false; // weights go into the product with v rounded to T
  bool lazily = false;
};

// Scores are not yet scaled; `factor` is c.
template <class Line, class Keys>
void attend_by_powers(Line& line, const Keys& keys, const typename Line::Number& factor, PowersOfTwo powers) {
  using Number = typename Line::Number;
  const Number none = -__builtin_huge_val();
  const auto weight = line.scratch(keys.seen), output = line.scratch(keys.width);
  Number largest = none, total = 0;
  line.each(keys.width, [&](auto l) { output[l] = 0; });
  for (long long t = 0; t < keys.parts(); ++t) {
    const auto begin = keys.begin(t), n = keys.size(t);
    const Number own = line.max(n, [&](auto i) { return keys.score(begin + i); });
    const Number raised = maximum(largest, as_computed(own));
    const bool stays =
        powers.lazily && !(largest == none) && !(Number(raised - largest) * factor > Number(8));
    const Number top = stays ? largest : raised;
    const Number shift = top == none ? Number(0) : Number(top * factor);
    const Number before =
        largest == none ? Number(0) : power(Number(Number(largest - top) * factor), Base::two);
    line.each(n, [&](auto i) {
      weight[begin + i] = power(Number(keys.score(begin + i) * factor - shift), Base::two);
    });
    total = total * before + line.sum(n, [&](auto i) { return weight[begin + i]; });
    if (powers.rounds) line.each(n, [&](auto i) { weight[begin + i] = line.round(weight[begin + i]); });
    line.each(keys.width,
              [&](auto l) { output[l] = output[l] * before + weighed(line, keys, weight, t, l); });
    largest = top;
  }
  line.each(keys.width, [&](auto l) { keys.store(l, output[l] / total); });
}

} // namespace assay
