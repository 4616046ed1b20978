// One handler an opcode: the code of one instruction for the lanes that execute it. The catalogue
// (ptx/catalogue.h) has already decided that opcode, modifiers and types go together and that the operand
// count fits.
#pragma once

#include "harness/device/cpu/ptx/ast.h"

#include <string_view>

namespace assay::cpu {

class FunctionEmitter;
using Handler = void (*)(FunctionEmitter&, const ptx::Instruction&);

Handler handler_of(const ptx::Instruction& instruction); // null: none

// By family; each returns null for an opcode that is not its own.
Handler integer_handler(std::string_view opcode, const ptx::Instruction& i);
Handler logic_handler(std::string_view opcode);
Handler float_handler(std::string_view opcode, const ptx::Instruction& i);
Handler half_handler(std::string_view opcode, const ptx::Instruction& i);
Handler compare_handler(std::string_view opcode);
Handler convert_handler(std::string_view opcode);
Handler memory_handler(std::string_view opcode);
Handler matrix_handler(std::string_view opcode);
Handler tensor_handler(std::string_view opcode); // part of the former
Handler warp_handler(std::string_view opcode);
Handler call_handler(std::string_view opcode);
Handler move_handler(std::string_view opcode);
Handler packed_handler(std::string_view opcode, const ptx::Instruction& i);
Handler mbarrier_handler(std::string_view opcode);

void emit_atomic(FunctionEmitter& e, const ptx::Instruction& i);
void emit_cp_async(FunctionEmitter& e, const ptx::Instruction& i);
// cp.async.mbarrier.arrive
void emit_copies_arrive(FunctionEmitter& e, const ptx::Instruction& i);

} // namespace assay::cpu
