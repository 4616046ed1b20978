// The instructions that the CPU device supports: opcode, the modifiers that go with it in their order, and
// how many operands. What is not here is refused before anything runs; the table of supported instructions is
// printed from here.
#pragma once

#include "harness/base/error.h"
#include "harness/device/cpu/ptx/ast.h"

#include <span>
#include <string>
#include <string_view>

namespace assay::ptx {

// `form` reads from left to right: alternatives are joined by '|', a '?' behind them makes them optional.
// "sat? s32" stands for add.sat.s32 and add.s32. "pred|b16" alternatives may be types or other modifiers.
struct Form {
  std::string_view opcode;
  std::string_view form;
  unsigned min_operands, max_operands;
};

std::span<const Form> supported_forms();

// One line of the catalogue as PTX writes it: "add{.sat}.s32  3 operands".
std::string to_string(const Form& form);

// Nothing, or an error that names the instruction and its PTX line: environment where the catalogue has no
// form for it, user where it has one but the number of operands is wrong.
Result<void> check_supported(const Instruction& instruction, std::string_view origin);
Result<void> check_supported(const Module& module);

} // namespace assay::ptx
