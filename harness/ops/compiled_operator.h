// What passes between the program and the shared object that a user's operator is compiled to
// (harness/run/user_operator.h): one function, assay_operator.
#pragma once

#include "harness/ops/declarations.h"
#include "harness/ops/op.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace assay {

// Sizes of all that crosses: a shared object made from other headers than the program is not used.
inline constexpr std::array<std::size_t, 7> operator_layout = {
    sizeof(OpInfo),    sizeof(TensorInfo), sizeof(Problem),         sizeof(Instrument),
    sizeof(Evaluated), sizeof(Tensor),     sizeof(DeclarationFault)};

struct CompiledOperator {
  void (*end_program)(int code, std::string_view line) noexcept = nullptr; // given: where a check fails
  std::array<std::size_t, 7> layout{};
  const Op* op = nullptr; // where there is no fault
  std::optional<DeclarationFault> fault;
};

extern "C" using CompiledOperatorEntry = void (*)(CompiledOperator&);

} // namespace assay
