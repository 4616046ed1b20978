// Rotary position embedding, halves rotated. Cache row p: cos for head_dim
// places, then sin; with h = head_dim / 2
//   out[i] = x[i] cos[i] - x[i+h] sin[i]      out[i+h] = x[i+h] cos[i+h] + x[i]
//   sin[i+h]
#pragma once

#include "harness/ops/formula.h"

namespace assay {

struct Rope {
  static constexpr auto name = "rope";
  static constexpr Dim tokens{0, "tokens"}, q_heads{1, "q_heads"}, k_heads{2, "k_heads"};
  static constexpr Dim head_dim{3, "head_dim", 2, 2}, max_position{4, "max_position", 1};
  static constexpr Dim dims[] = {tokens, q_heads, k_heads, head_dim, max_position};
  static constexpr auto q = TensorSpec::input(0, "q", "tokens, q_heads, head_dim").specials();
  static constexpr auto k = TensorSpec::input(1, "k", "tokens, k_heads, head_dim").specials();
  static constexpr auto cache =
      TensorSpec::input(2, "cache", "max_position, 2 * head_dim").as(DType::f32).in(DomainKind::rotary);
  static constexpr auto positions =
      TensorSpec::input(3, "positions", "tokens").as(DType::i32).in(DomainKind::index, "max_position");
  static constexpr auto q_out = TensorSpec::output(4, "q_out", "tokens, q_heads, head_dim");
  static constexpr auto k_out = TensorSpec::output(5, "k_out", "tokens, k_heads, head_dim");
  static constexpr auto grad_q_out = TensorSpec::upstream(6, "grad_q_out", q_out);
  static constexpr auto grad_k_out = TensorSpec::upstream(7, "grad_k_out", k_out);
  static constexpr auto grad_q = TensorSpec::gradient(8, "grad_q", q);
  static constexpr auto grad_k = TensorSpec::gradient(9, "grad_k", k);
  static constexpr TensorSpec tensors[] = {q,     k,          cache,      positions, q_out,
                                           k_out, grad_q_out, grad_k_out, grad_q,    grad_k};

  template <class Run> static void forward(Run& run) {
    const auto rotate = [](auto& line, const TensorSpec& in, const TensorSpec& out) {
      const auto t = line.index(0), head = line.index(1), d = line.size(head_dim), h = d / 2;
      const auto p = line.load_index(positions, {t});
      const auto x = [&](auto i) { return line.load(in, {t, head, i}); };
      const auto cos = [&](auto i) { return line.load(cache, {p, i}); };
      const auto sin = [&](auto i) { return line.load(cache, {p, d + i}); };
      line.each(h, [&](auto i) { line.store(out, {t, head, i}, x(i) * cos(i) - x(i + h) * sin(i)); });
      line.each(
          h, [&](auto i) { line.store(out, {t, head, i + h}, x(i + h) * cos(i + h) + x(i) * sin(i + h)); });
    };
    run.lines({tokens, q_heads}, [&](auto& line) { rotate(line, q, q_out); });
    run.lines({tokens, k_heads}, [&](auto& line) { rotate(line, k, k_out); });
  }

  // The transposed rotation.
  template <class Run> static void backward(Run& run) {
    const auto rotate_back = [](auto& line, const TensorSpec& in, const TensorSpec& out) {
      const auto t = line.index(0), head = line.index(1), d = line.size(head_dim), h = d / 2;
      const auto p = line.load_index(positions, {t});
      const auto g = [&](auto i) { return line.load(in, {t, head, i}); };
      const auto cos = [&](auto i) { return line.load(cache, {p, i}); };
      const auto sin = [&](auto i) { return line.load(cache, {p, d + i}); };
      line.each(h, [&](auto i) { line.store(out, {t, head, i}, g(i) * cos(i) + g(i + h) * sin(i + h)); });
      line.each(h, [&](auto i) { line.store(out, {t, head, i + h}, g(i + h) * cos(i + h) - g(i) * sin(i)); });
    };
    run.lines({tokens, q_heads}, [&](auto& line) { rotate_back(line, grad_q_out, grad_q); });
    run.lines({tokens, k_heads}, [&](auto& line) { rotate_back(line, grad_k_out, grad_k); });
  }
};

} // namespace assay
