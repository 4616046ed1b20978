// The built-in operators. Each formula is compiled with all its instruments in
// one of the op_*.cpp.
#include "harness/ops/op.h"

namespace assay {

template <class Formula> const Op& op_of();

// Declares the formula and that op_of it is compiled elsewhere.
#define ASSAY_OP(Formula)                                                                                    \
  struct Formula;                                                                                            \
  extern template const Op& op_of<Formula>();

ASSAY_OP(Add)
ASSAY_OP(Argmax)
ASSAY_OP(Attention)
ASSAY_OP(CastF8E4m3)
ASSAY_OP(CausalConv1d)
ASSAY_OP(CrossEntropy)
ASSAY_OP(Cumsum)
ASSAY_OP(DequantizeRowsI8)
ASSAY_OP(GatherRows)
ASSAY_OP(GeluErf)
ASSAY_OP(GeluTanh)
ASSAY_OP(Gemm)
ASSAY_OP(GemmNt)
ASSAY_OP(L2Normalize)
ASSAY_OP(Layernorm)
ASSAY_OP(LogSoftmax)
ASSAY_OP(Logsumexp)
ASSAY_OP(MaskedSoftmax)
ASSAY_OP(Max)
ASSAY_OP(Mean)
ASSAY_OP(OffsetRmsnorm)
ASSAY_OP(QuantizeRowsI8)
ASSAY_OP(Relu)
ASSAY_OP(Rmsnorm)
ASSAY_OP(Rope)
ASSAY_OP(ScatterAddRows)
ASSAY_OP(Sigmoid)
ASSAY_OP(Silu)
ASSAY_OP(Softmax)
ASSAY_OP(Sum)
ASSAY_OP(Swiglu)
ASSAY_OP(Tanh)
ASSAY_OP(Transpose)
ASSAY_OP(Variance)

#undef ASSAY_OP

std::vector<const Op*> all_ops() {
  static const std::vector<const Op*> ops = {
      &op_of<Add>(),           &op_of<Argmax>(),
      &op_of<Attention>(),     &op_of<CastF8E4m3>(),
      &op_of<CausalConv1d>(),  &op_of<CrossEntropy>(),
      &op_of<Cumsum>(),        &op_of<DequantizeRowsI8>(),
      &op_of<GatherRows>(),    &op_of<GeluErf>(),
      &op_of<GeluTanh>(),      &op_of<Gemm>(),
      &op_of<GemmNt>(),        &op_of<L2Normalize>(),
      &op_of<Layernorm>(),     &op_of<LogSoftmax>(),
      &op_of<Logsumexp>(),     &op_of<MaskedSoftmax>(),
      &op_of<Max>(),           &op_of<Mean>(),
      &op_of<OffsetRmsnorm>(), &op_of<QuantizeRowsI8>(),
      &op_of<Relu>(),          &op_of<Rmsnorm>(),
      &op_of<Rope>(),          &op_of<ScatterAddRows>(),
      &op_of<Sigmoid>(),       &op_of<Silu>(),
      &op_of<Softmax>(),       &op_of<Sum>(),
      &op_of<Swiglu>(),        &op_of<Tanh>(),
      &op_of<Transpose>(),     &op_of<Variance>(),
  };
  return ops;
}

const Op* find_op(std::string_view name) {
  for (const Op* op : all_ops())
    if (op->info().name == name) return op;
  return nullptr;
}

} // namespace assay
