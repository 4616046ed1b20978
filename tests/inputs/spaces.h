// Spaces of a few kernels, as harness/run would build them, for the tests of this folder.
#pragma once

#include "harness/base/check.h"
#include "harness/inputs/space.h"

namespace assay::test {

inline Expression expression(std::string_view text) {
  auto parsed = Expression::parse(text, {});
  ASSAY_CHECK(parsed.has_value(), "{}", text);
  return *std::move(parsed);
}

inline InputSpec input(std::string name, std::initializer_list<std::string_view> shape,
                       std::optional<DType> dtype = {}, Domain domain = {}, bool upstream = false,
                       LayoutText layout = {}) {
  InputSpec spec{std::move(name), dtype, {}, std::move(domain), upstream, std::move(layout)};
  for (const std::string_view size : shape) spec.shape.push_back(expression(size));
  return spec;
}

// A normalisation with backward, strides allowed.
inline CaseSpace norm_space() {
  CaseSpace space;
  space.manifest = "kernels/rmsnorm/kernel.toml";
  space.dtypes = {DType::f32, DType::f16, DType::bf16};
  space.has_backward = true;
  space.dims = {{"rows", 1, 512, {}, {}, 1, {}}, {"cols", 1, 8192, {32, 256}, {5120}, 1, {}}};
  space.params = {{"eps", {1e-6}}};
  Domain specials;
  specials.specials = true;
  LayoutText strided;
  strided.strided = strided.offset = true;
  LayoutText rows;
  rows.row_strided = true;
  space.inputs = {input("x", {"rows", "cols"}, {}, specials, false, strided), input("weight", {"cols"}),
                  input("grad_y", {"rows", "cols"}, {}, {}, true, rows)};
  space.tolerance.fudge = 2.5;
  return space;
}

// Classes and targets; cols may be 0.
inline CaseSpace loss_space() {
  CaseSpace space;
  space.manifest = "kernels/cross_entropy/kernel.toml";
  space.dtypes = {DType::f32};
  space.has_backward = true;
  space.dims = {{"rows", 0, 64, {}, {}, 1, {}}, {"classes", 0, 4096, {128}, {}, 1, {}}};
  space.inputs = {input("logits", {"rows", "classes"}),
                  input("target", {"rows"}, DType::i32, {Domain::Kind::target, "classes", false}),
                  input("grad_loss", {"rows"}, DType::f32, {}, true)};
  return space;
}

// Attention with a choice of params, a mask, multiples, and a budget on the scores.
inline CaseSpace attention_space() {
  CaseSpace space;
  space.manifest = "kernels/attention/kernel.toml";
  space.dtypes = {DType::f16, DType::bf16, DType::f8e4m3};
  space.dims = {{"batch", 1, 4, {}, {}, 1, {}},
                {"heads", 2, 2, {}, {}, 1, {}},
                {"q_len", 1, 1024, {16}, {}, 1, {}},
                {"kv_len", 1, 4096, {64}, {2048}, 1, {}},
                {"head_dim", 8, 128, {64}, {}, 8, {}}};
  space.params = {{"causal", {0, 1}}};
  space.inputs = {
      input("q", {"batch", "heads", "q_len", "head_dim"}),
      input("k", {"batch", "heads", "kv_len", "head_dim"}),
      input("v", {"batch", "heads", "kv_len", "head_dim"}),
      input("mask", {"q_len", "kv_len"}, DType::u8, {Domain::Kind::boolean, "", false}),
      input("scale", {"heads"}, DType::f32, {Domain::Kind::scale, "", false}),
      input("codes", {"kv_len"}, DType::i8, {Domain::Kind::code, "", false}),
      input("cache", {"kv_len", "2 * head_dim"}, DType::f32, {Domain::Kind::rotary, "", false}),
      input("rows_to_quantize", {"q_len", "head_dim"}, {}, {Domain::Kind::quantizable, "", false})};
  space.element_budget = 200000;
  space.budgets.push_back(
      {"the work", expression("batch * heads * q_len * kv_len * head_dim"), 1 << 22, 1 << 22});
  space.learnt = {48, 300};
  return space;
}

inline std::vector<CaseSpace> all_spaces() { return {norm_space(), loss_space(), attention_space()}; }

} // namespace assay::test
