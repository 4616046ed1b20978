// What loads, stores, atomics and copies have in common: how their modifiers and operands read, and how their
// values travel through the buffers that the runtime fills and empties.
#pragma once

#include "harness/device/cpu/emit/function_emitter.h"

#include <cstdint>
#include <optional>
#include <span>

namespace assay::cpu {

Space space_of(const ptx::Instruction& i);
std::uint8_t ordering_of(const ptx::Instruction& i);
bool of_block(const ptx::Instruction& i); // Access::of_block
std::uint8_t vector_of(const ptx::Instruction& i);
std::span<const ptx::Operand> parts_of(const ptx::Operand& operand); // of a vector; else the operand alone
ptx::Type raw(ptx::Type type);                                       // the lanes' bits as they lie in memory

// An element's register must go with the type, though its bits travel as they are.
void check_kind(FunctionEmitter& e, const ptx::Instruction& i, const ptx::Operand& part, ptx::Type type);

const Access* describe(FunctionEmitter& e, const ptx::Instruction& i, Space space, unsigned bytes,
                       unsigned vector);

// Element `index` of each lane in a buffer of vectors, and its undefined lanes.
llvm::Value* element(FunctionEmitter& e, llvm::Value* buffer, std::size_t index, unsigned bytes);
llvm::Value* undefined_place(FunctionEmitter& e, std::size_t index);

// The variable behind the address, where it is one that calls pass: no kernel parameter.
std::optional<std::uint32_t> passed_variable(FunctionEmitter& e, const ptx::Operand& operand);
void load_area(FunctionEmitter& e, const ptx::Instruction& i, std::uint32_t variable);
void store_area(FunctionEmitter& e, const ptx::Instruction& i, std::uint32_t variable);

} // namespace assay::cpu
