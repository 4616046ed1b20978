// loss = log(sum exp(x - max x)) - (x[target] - max x) along each row; a target
// of -100 is ignored: loss and gradient 0.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/softmax_row.h"

namespace assay {

struct CrossEntropy {
  static constexpr auto name = "cross_entropy";
  static constexpr Dim rows{0, "rows"}, classes{1, "classes", 1};
  static constexpr Dim dims[] = {rows, classes};
  static constexpr auto logits = TensorSpec::input(0, "logits", "rows, classes").specials();
  static constexpr auto target =
      TensorSpec::input(1, "target", "rows").as(DType::i32).in(DomainKind::target, "classes");
  static constexpr auto loss = TensorSpec::output(2, "loss", "rows").as(DType::f32);
  static constexpr auto grad_loss = TensorSpec::upstream(3, "grad_loss", loss);
  static constexpr auto grad_logits = TensorSpec::gradient(4, "grad_logits", logits);
  static constexpr TensorSpec tensors[] = {logits, target, loss, grad_loss, grad_logits};
  static constexpr bool reduces = true;
  static constexpr const char* algorithms[] = {"two_pass", "online"};
  // from_logsumexp: exp(x - (max + log sum exp(x - max))), as forward may have kept that logarithm.
  static constexpr const char* backward_algorithms[] = {"two_pass", "online", "from_logsumexp",
                                                        "distributed"};
  static constexpr int from_logsumexp = 2, distributed = 3;

  template <class Run> static void forward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), t = line.load_index(target, {r});
      if (t == -100) return line.store(loss, {r}, 0);
      const auto row = [&](auto i) { return line.load(logits, {r, i}); };
      const auto state = softmax_state(line, line.size(classes), row, line.algorithm());
      line.store(loss, {r}, log(state.total) - (row(t) - state.largest));
    });
  }

  // grad_logits = grad_loss * (softmax(x) - [i = target]); distributed: grad_loss * softmax(x) - grad_loss.
  template <class Run> static void backward(Run& run) {
    run.lines(rows, [](auto& line) {
      const auto r = line.index(), n = line.size(classes), t = line.load_index(target, {r});
      const auto row = [&](auto i) { return line.load(logits, {r, i}); };
      const auto p = line.algorithm() == from_logsumexp ? softmax_by_logsumexp(line, n, row)
                                                        : softmax_row(line, n, row, line.algorithm());
      const auto g = line.load(grad_loss, {r});
      line.each(n, [&](auto i) {
        if (t == -100) return line.store(grad_logits, {r, i}, 0);
        if (line.algorithm() == distributed && i == t) return line.store(grad_logits, {r, i}, g * p[i] - g);
        line.store(grad_logits, {r, i}, g * (i == t ? p[i] - 1 : p[i]));
      });
    });
  }
};

} // namespace assay
