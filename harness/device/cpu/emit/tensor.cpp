// wmma.load, wmma.store, wmma.mma and mma.sync: from modifiers to descriptions, and the code that moves
// registers. The whole warp takes part.
#include "harness/base/check.h"
#include "harness/device/cpu/emit/fragment.h"
#include "harness/device/cpu/emit/function_emitter.h"
#include "harness/device/cpu/emit/handlers.h"
#include "harness/device/cpu/emit/memory_buffers.h"
#include "harness/device/cpu/emit/mma.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

std::optional<Element> element_named(std::string_view name) {
  static constexpr std::pair<std::string_view, Element> names[] = {
      {"f16", Element::f16}, {"bf16", Element::bf16}, {"tf32", Element::tf32}, {"f32", Element::f32},
      {"f64", Element::f64}, {"e4m3", Element::e4m3}, {"e5m2", Element::e5m2}, {"s8", Element::s8},
      {"u8", Element::u8},   {"s4", Element::s4},     {"u4", Element::u4},     {"s32", Element::s32},
      {"b1", Element::b1}};
  for (const auto& [known, element] : names)
    if (known == name) return element;
  return std::nullopt;
}

Shape shape_of(const Instruction& i) {
  for (const std::string_view modifier : i.modifiers)
    if (const Shape shape = parse_shape(modifier); shape.m != 0) return shape;
  return {};
}

std::span<const Operand> parts_of(const Operand& operand) {
  if (operand.kind == Operand::Kind::vector) return operand.parts;
  return {&operand, 1};
}

// PTX gives an f16 factor of wmma eight registers, of which the first ones count.
unsigned registers_in_text(const Fragment& fragment, Part part, Element element, bool wmma) {
  return wmma && part != Part::c && element == Element::f16 ? 8 : fragment.registers();
}

bool has_registers(FunctionEmitter& e, const Instruction& i, std::size_t operand, unsigned count) {
  if (parts_of(i.operands[operand]).size() == count) return true;
  e.fail(i, ErrorKind::user, "operand {} of '{}' needs {} registers", operand + 1, i.opcode, count);
  return false;
}

Type register_type(const Fragment& fragment) {
  return fragment.register_bits() == 64 ? Type::b64 : Type::b32;
}

void require_warp(FunctionEmitter& e, const Instruction& i) {
  e.lanes().call("assay_require_warp", e.ir().getVoidTy(),
                 {e.warp(), e.executing(), e.lanes().pointer(e.site(i))});
}

// A matrix in memory that a wmma.load or wmma.store names.
struct MatrixAccess {
  Part part;
  Element element;
  Fragment fragment;
  bool lines;  // a line's elements lie one after the other
  bool joined; // those of a register do
  Space space;
  Value* base;
  Value* pitch; // bytes from one row (column) to the next
};

Space matrix_space(const Instruction& i) {
  if (i.has("global")) return Space::global;
  return i.has("shared") || i.has("shared::cta") ? Space::shared : Space::generic;
}

MatrixAccess matrix_access(FunctionEmitter& e, const Instruction& i, std::size_t address) {
  auto& b = e.lanes();
  const bool row = i.has("row");
  const Part part = i.has("a") ? Part::a : i.has("b") ? Part::b : Part::c;
  const Shape shape = shape_of(i);
  const auto element = element_named(i.modifiers.back());
  ASSAY_CHECK(element && shape.m != 0, "the catalogue let '{}' through", i.opcode);
  const bool lines_are_rows = part != Part::b;
  const Fragment fragment(part, shape, *element);
  const bool lines = row == lines_are_rows;
  MatrixAccess access{
      part,    *element, fragment, lines, lines == fragment.elements_across(), matrix_space(i),
      nullptr, nullptr};
  access.base = e.address(i, i.operands[address], access.space);
  const unsigned bits = bits_of(*element);
  if (i.operands.size() == 3) {
    e.set_taint(nullptr);
    Value* stride = b.resize(e.read(i.operands[2], Type::u32), 64, false);
    e.use(e.taken_taint(), i);
    e.set_taint(nullptr);
    access.pitch = b.ir.CreateLShr(b.ir.CreateMul(stride, b.splat(64, bits)), b.splat(64, 3));
  } else {
    const unsigned across = part == Part::a ? shape.k : shape.n, down = part == Part::b ? shape.k : shape.m;
    access.pitch = b.splat(64, (row ? across : down) * std::uint64_t{bits} / 8);
  }
  return access;
}

// Where every lane's `element` of register `reg` lies.
Value* element_addresses(FunctionEmitter& e, const MatrixAccess& access, unsigned reg, unsigned element) {
  auto& ir = e.ir();
  std::array<std::uint64_t, warp_lanes> outer{}, inner{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const Fragment::Position p = access.fragment.at(reg, element, lane);
    outer[lane] = access.lines ? p.line : p.across;
    inner[lane] = std::uint64_t{access.lines ? p.across : p.line} * bits_of(access.element) / 8;
  }
  const auto constant = [&](const std::array<std::uint64_t, warp_lanes>& values) {
    return llvm::ConstantDataVector::get(ir.getContext(), llvm::ArrayRef<std::uint64_t>(values));
  };
  Value* offset = ir.CreateAdd(ir.CreateMul(access.pitch, constant(outer)), constant(inner));
  return ir.CreateAdd(access.base, offset);
}

// What a matrix's base and pitch must be multiples of: PTX says the size of a lane's fragment, CUDA C++ 16
// bytes (and a base of 32, which right kernels that step by half a tile do not keep). Rows that the hardware
// reads by ldmatrix need 16 whatever the fragment's size.
unsigned alignment_of(const MatrixAccess& access) {
  const unsigned bits = bits_of(access.element);
  const bool by_rows = bits == 16 || (bits < 16 && access.joined);
  const unsigned registers = registers_in_text(access.fragment, access.part, access.element, true);
  return by_rows ? 16 : std::min(16u, registers * access.fragment.register_bits() / 8);
}

void check_alignment(FunctionEmitter& e, const Instruction& i, const MatrixAccess& access, bool store) {
  auto& b = e.lanes();
  b.ir.CreateAlignedStore(access.base, b.scratch(0), llvm::Align(64));
  b.ir.CreateAlignedStore(access.pitch, b.scratch(1), llvm::Align(64));
  const Access& described = e.scope().data.accesses.emplace_back(
      Access{*e.site(i), access.space, static_cast<std::uint8_t>(alignment_of(access)), 1, weak});
  b.call("assay_matrix_alignment", b.ir.getVoidTy(),
         {e.warp(), e.executing(), b.pointer(&described), b.scratch(0), b.scratch(1),
          b.ir.getInt32(store ? 1 : 0)});
}

// How many accesses a register takes, and of how many bits.
std::pair<unsigned, unsigned> accesses_of(const MatrixAccess& access) {
  if (access.joined) return {1, access.fragment.register_bits()};
  return {access.fragment.elements(), bits_of(access.element)};
}

void emit_load(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const auto access = matrix_access(e, i, 1);
  const unsigned registers = registers_in_text(access.fragment, access.part, access.element, true);
  if (!has_registers(e, i, 0, registers)) return;
  require_warp(e, i);
  check_alignment(e, i, access, false);
  const auto parts = parts_of(i.operands[0]);
  const auto [count, bits] = accesses_of(access);
  const unsigned wide = access.fragment.register_bits();
  std::vector<std::pair<Value*, Value*>> loaded; // value, undefined lanes
  for (unsigned reg = 0; reg < access.fragment.registers(); ++reg) {
    e.set_taint(nullptr);
    Value* value = nullptr;
    for (unsigned element = 0; element < count; ++element) {
      Value* one = load_lanes(e, i, access.space, element_addresses(e, access, reg, element), bits);
      one = b.ir.CreateShl(b.resize(one, wide, false), b.splat(wide, std::uint64_t{element} * bits));
      value = value ? b.ir.CreateOr(value, one) : one;
    }
    loaded.emplace_back(value, e.taken_taint());
  }
  for (unsigned reg = 0; reg < registers; ++reg) { // the address register may be one of them
    const auto& [value, undefined] = loaded[reg % loaded.size()];
    e.set_taint(undefined);
    e.write(parts[reg], register_type(access.fragment), value);
  }
}

void emit_store(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const auto access = matrix_access(e, i, 0);
  if (!has_registers(e, i, 1, access.fragment.registers())) return;
  require_warp(e, i);
  check_alignment(e, i, access, true);
  const auto parts = parts_of(i.operands[1]);
  const auto [count, bits] = accesses_of(access);
  for (unsigned reg = 0; reg < access.fragment.registers(); ++reg) {
    e.set_taint(nullptr);
    Value* value = e.read(parts[reg], register_type(access.fragment));
    for (unsigned element = 0; element < count; ++element) {
      const unsigned wide = access.fragment.register_bits();
      Value* one = b.ir.CreateLShr(value, b.splat(wide, std::uint64_t{element} * bits));
      store_lanes(e, i, access.space, element_addresses(e, access, reg, element), b.resize(one, bits, false));
    }
  }
}

// d's, a's, b's and c's element types: the last four that are named, where wmma of f16 names d's and c's
// alone.
MatrixProduct product_of(const Instruction& i) {
  std::vector<Element> named;
  for (const std::string_view modifier : i.modifiers)
    if (const auto element = element_named(modifier)) named.push_back(*element);
  ASSAY_CHECK(named.size() == 2 || named.size() == 4, "the catalogue let '{}' through", i.opcode);
  MatrixProduct product{};
  product.shape = shape_of(i);
  product.d = named.front();
  product.c = named.back();
  product.a = named.size() == 2 ? Element::f16 : named[1];
  product.b = named.size() == 2 ? Element::f16 : named[2];
  product.wmma = i.opcode == "wmma";
  product.saturates = i.has("satfinite");
  if (i.has("rz")) product.rounding = Round::toward_zero;
  if (i.has("rm")) product.rounding = Round::down;
  if (i.has("rp")) product.rounding = Round::up;
  if (i.has("popc")) product.bits = i.has("xor") ? BitOperation::xor_ : BitOperation::and_;
  prepare(product);
  return product;
}

void emit_product(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  auto& ir = b.ir;
  const MatrixProduct& product = e.scope().data.products.emplace_back(product_of(i));
  struct Field {
    Part part;
    Element element;
    std::size_t offset;
  };
  const std::array<Field, 4> fields{{{Part::c, product.d, offsetof(MatrixOperands, d)},
                                     {Part::a, product.a, offsetof(MatrixOperands, a)},
                                     {Part::b, product.b, offsetof(MatrixOperands, b)},
                                     {Part::c, product.c, offsetof(MatrixOperands, c)}}};
  std::vector<Fragment> fragments;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    fragments.emplace_back(fields[k].part, product.shape, fields[k].element);
    const unsigned count = registers_in_text(fragments[k], fields[k].part, fields[k].element, product.wmma);
    if (!has_registers(e, i, k, count)) return;
  }
  require_warp(e, i);
  Value* buffer = e.matrix_buffer();
  const auto place = [&](std::size_t offset) {
    return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), buffer, offset);
  };
  for (std::size_t k = 1; k < fields.size(); ++k)
    for (unsigned reg = 0; reg < fragments[k].registers(); ++reg) {
      const unsigned bytes = fragments[k].register_bits() / 8;
      e.set_taint(nullptr);
      Value* value = e.read(parts_of(i.operands[k])[reg], register_type(fragments[k]));
      ir.CreateAlignedStore(value, place(fields[k].offset + std::size_t{reg} * warp_lanes * bytes),
                            llvm::Align(64));
      ir.CreateStore(e.taken_taint() ? e.taken_taint() : ir.getInt32(0),
                     place(fields[k].offset + offsetof(MatrixOperand, undefined) + std::size_t{reg} * 4));
    }
  b.call("assay_matrix_product", ir.getVoidTy(), {b.pointer(&product), buffer});
  for (unsigned reg = 0; reg < fragments[0].registers(); ++reg) {
    const std::size_t offset = fields[0].offset;
    const unsigned bits = fragments[0].register_bits();
    e.set_taint(ir.CreateLoad(ir.getInt32Ty(),
                              place(offset + offsetof(MatrixOperand, undefined) + std::size_t{reg} * 4)));
    e.write(parts_of(i.operands[0])[reg], register_type(fragments[0]),
            ir.CreateAlignedLoad(b.int_lanes(bits), place(offset + std::size_t{reg} * warp_lanes * bits / 8),
                                 llvm::Align(64)));
  }
}

void emit_wmma(FunctionEmitter& e, const Instruction& i) {
  if (i.has("load")) return emit_load(e, i);
  if (i.has("store")) return emit_store(e, i);
  emit_product(e, i);
}

} // namespace

Handler tensor_handler(std::string_view opcode) {
  if (opcode == "wmma") return emit_wmma;
  if (opcode == "mma") return emit_product;
  return nullptr;
}

} // namespace assay::cpu
