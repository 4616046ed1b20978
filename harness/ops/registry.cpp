// The built-in operators. Each formula is compiled with all its instruments in its own op_*.cpp.
#include "harness/ops/op.h"

namespace assay {

template <class Formula> const Op& op_of();

struct Softmax;
struct OffsetRmsnorm;
extern template const Op& op_of<Softmax>();
extern template const Op& op_of<OffsetRmsnorm>();

std::vector<const Op*> all_ops() {
  static const std::vector<const Op*> ops = {&op_of<OffsetRmsnorm>(), &op_of<Softmax>()};
  return ops;
}

const Op* find_op(std::string_view name) {
  for (const Op* op : all_ops())
    if (op->info().name == name) return op;
  return nullptr;
}

} // namespace assay
