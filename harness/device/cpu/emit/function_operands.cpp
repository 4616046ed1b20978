// What symbols, special registers and address operands stand for.
#include "harness/device/cpu/emit/function_emitter.h"

#include <cstddef>

namespace assay::cpu {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;

// The address in the symbol's own state space (for global and const that is the generic one), as <32 x i64>.
Value* FunctionEmitter::symbol_address(const Operand& operand, Space* space) {
  const auto found = [&](Space where, Value* address) {
    if (space) *space = where;
    if (operand.offset == 0) return address;
    return ir().CreateAdd(address, lanes().splat(64, static_cast<std::uint64_t>(operand.offset)));
  };
  const auto shared = [&](const Location& location) {
    if (!location.dynamic) return found(Space::shared, lanes().splat(64, location.address));
    Value* begin = warp_field(offsetof(Warp, dynamic_shared), ir().getInt32Ty());
    return found(Space::shared, lanes().splat_value(ir().CreateZExt(begin, ir().getInt64Ty())));
  };
  if (operand.variable != ptx::no_index) {
    const ptx::Variable& variable = function_.variables[operand.variable];
    if (variable.space == ptx::Space::shared)
      return shared(scope_.layout.shared_in(function_, operand.variable));
    if (variable.space == ptx::Space::local) {
      Value* base = ir().CreateAdd(local_base_, ir().getInt32(local_offsets_[operand.variable]));
      return found(Space::local, lanes().splat_value(ir().CreateZExt(base, ir().getInt64Ty())));
    }
    if (variable.space == ptx::Space::param && function_.entry &&
        operand.variable < function_.params.size()) {
      std::uint64_t offset = 0;
      for (std::uint32_t p = 0; p <= operand.variable; ++p) {
        const std::uint64_t alignment = function_.params[p].alignment;
        offset = (offset + alignment - 1) / alignment * alignment;
        if (p < operand.variable) offset += function_.params[p].bytes;
      }
      return found(Space::param, lanes().splat(64, offset));
    }
    fail(*instruction_, ErrorKind::environment,
         "the address of parameter '{}' is not supported by the CPU device", operand.name);
    return lanes().splat(64, 0);
  }
  if (const Location* location = scope_.layout.find(operand.name)) {
    if (location->space == ptx::Space::shared) return shared(*location);
    return found(location->space == ptx::Space::constant ? Space::constant : Space::global,
                 lanes().splat(64, location->address));
  }
  for (const ptx::Variable& variable : scope_.source.variables)
    if (variable.name == operand.name) {
      fail(*instruction_, ErrorKind::user, "extern variable '{}' is not defined in this module",
           operand.name);
      return lanes().splat(64, 0);
    }
  for (std::size_t k = 0; k < scope_.source.functions.size(); ++k) {
    const ptx::Function& function = scope_.source.functions[k];
    if (function.name != operand.name) continue;
    if (function.entry || !function.defined)
      fail(*instruction_, ErrorKind::environment,
           "the address of '{}', which this module does not define as a .func, is not supported by the CPU "
           "device",
           operand.name);
    return found(Space::global, lanes().splat(64, function_address(k)));
  }
  fail(*instruction_, ErrorKind::user, "'{}' is not declared", operand.name);
  return lanes().splat(64, 0);
}

Value* FunctionEmitter::address(const Instruction& i, const Operand& operand, Space& space) {
  if (operand.kind != Operand::Kind::address) {
    fail(i, ErrorKind::user, "'{}' needs an address in brackets", i.opcode);
    return lanes().splat(64, 0);
  }
  const auto offset = static_cast<std::uint64_t>(operand.offset);
  if (operand.reg != ptx::no_index) {
    use(load_undefined(operand.reg), i);
    Value* base = load_register(operand.reg);
    const unsigned bits = bits_of(function_.registers[operand.reg].type);
    if (bits != 32 && bits != 64) {
      fail(i, ErrorKind::user, "an address register needs 32 or 64 bits");
      return lanes().splat(64, 0);
    }
    if (offset != 0) base = ir().CreateAdd(base, lanes().splat(bits, offset));
    base = lanes().resize(base, 64, false);
    if (space == Space::constant && bits == 32)
      base = ir().CreateAdd(base, lanes().splat(64, scope_.layout.constant_window()));
    return base;
  }
  if (operand.name.empty()) return lanes().splat(64, offset);
  Space where = Space::global;
  Value* base = symbol_address(operand, &where);
  if (space == Space::generic && where != Space::global && where != Space::constant) space = where;
  return base;
}

Value* FunctionEmitter::shape(const Instruction& i, std::uint32_t reg, unsigned bytes) {
  constexpr std::size_t known_shapes = 8; // more would only fill the frame
  constexpr std::uint64_t address_bytes = warp_lanes * sizeof(std::uint64_t);
  const unsigned bits = bits_of(function_.registers[reg].type);
  if (bits != 32 && bits != 64) fail(i, ErrorKind::user, "an address register needs 32 or 64 bits");
  use(load_undefined(reg), i);
  Value* base = load_register(reg);
  for (const KnownShape& known : shapes_)
    if (known.base == base && known.lanes == executing_ && known.bytes == bytes) return known.shape;
  const std::size_t place = next_shape_++ % known_shapes;
  if (place == shape_slots_.size())
    shape_slots_.push_back(lanes().slot(ir().getInt8Ty(), address_bytes + sizeof(AddressShape)));
  if (place == shapes_.size()) shapes_.emplace_back();
  Value* addresses = shape_slots_[place];
  Value* shape = ir().CreateConstInBoundsGEP1_64(ir().getInt8Ty(), addresses, address_bytes);
  shapes_[place] = {base, executing_, bytes, shape};
  ir().CreateAlignedStore(lanes().resize(base, 64, false), addresses, llvm::Align(64));
  lanes().call("assay_shape", ir().getVoidTy(),
               {shape, addresses, executing_, ir().getInt32(bytes), ir().getInt32(bits)});
  return shape;
}

Value* FunctionEmitter::special(const Operand& operand, unsigned bits) {
  std::string_view name = operand.name;
  const auto scalar = [&](std::size_t offset) {
    return lanes().splat_value(warp_field(offset, ir().getInt32Ty()));
  };
  const auto vector = [&](std::size_t offset) { return warp_field(offset, lanes().int_lanes(32)); };
  const auto axis = [&]() -> std::size_t {
    if (name.ends_with(".x")) return 0;
    if (name.ends_with(".y")) return 1;
    if (name.ends_with(".z")) return 2;
    return 3;
  };
  const auto is = [&](std::string_view stem) {
    return name == stem || (name.starts_with(stem) && name[stem.size()] == '.');
  };
  Value* value = nullptr;
  if (is("%tid") && axis() < 3) {
    value = vector(offsetof(Warp, tid_x) + axis() * sizeof(Warp::tid_x));
  } else if (is("%ntid") && axis() < 3) {
    value = scalar(offsetof(Warp, ntid) + axis() * 4);
  } else if (is("%ctaid") && axis() < 3) {
    value = scalar(offsetof(Warp, ctaid) + axis() * 4);
  } else if (is("%nctaid") && axis() < 3) {
    value = scalar(offsetof(Warp, nctaid) + axis() * 4);
  } else if (name == "%laneid") {
    value = lanes().lane_numbers();
  } else if (name == "WARP_SZ") {
    value = lanes().splat(32, 32);
  } else if (name == "%warpid") {
    value = scalar(offsetof(Warp, warp_index));
  } else if (name == "%nwarpid") {
    value = scalar(offsetof(Warp, warp_count));
  } else if (name == "%smid") {
    value = lanes().splat(32, 0);
  } else if (name == "%nsmid") {
    value = lanes().splat(32, 1);
  } else if (name == "%gridid") {
    value = lanes().splat_value(warp_field(offsetof(Warp, grid_id), ir().getInt64Ty()));
  } else if (name == "%dynamic_smem_size") {
    value = scalar(offsetof(Warp, dynamic_shared_bytes));
  } else if (name.starts_with("%lanemask_")) {
    Value* bit = ir().CreateShl(lanes().splat(32, 1), lanes().lane_numbers());
    Value* below = ir().CreateSub(bit, lanes().splat(32, 1));
    const std::string_view which = name.substr(10);
    if (which == "eq") value = bit;
    if (which == "lt") value = below;
    if (which == "le") value = ir().CreateOr(below, bit);
    if (which == "gt") value = ir().CreateNot(ir().CreateOr(below, bit));
    if (which == "ge") value = ir().CreateNot(below);
  } else if (name == "%reserved_smem_offset_begin" || name == "%reserved_smem_offset_1") {
    value = lanes().splat(32, 0);
  } else if (name == "%reserved_smem_offset_end" || name == "%reserved_smem_offset_cap") {
    value = lanes().splat(32, reserved_shared_bytes);
  } else if (name == "%envreg1" || name == "%envreg2") {
    const std::uint64_t workspace = scope_.layout.grid_workspace();
    value = lanes().splat(32, name == "%envreg1" ? workspace >> 32 : workspace & 0xffffffffu);
  } else if (name == "%clock" || name == "%clock64" || name == "%globaltimer" || name == "%globaltimer_lo" ||
             name == "%clock_hi" || name == "%globaltimer_hi") {
    Value* clock = lanes().call("assay_clock", ir().getInt64Ty(), {warp_});
    if (name.ends_with("_hi")) clock = ir().CreateLShr(clock, 32);
    value = lanes().splat_value(clock);
  }
  if (!value) {
    fail(*instruction_, ErrorKind::environment, "the CPU device does not support the special register '{}'",
         name);
    return lanes().splat(bits, 0);
  }
  return lanes().resize(value, bits, false);
}

} // namespace assay::cpu
