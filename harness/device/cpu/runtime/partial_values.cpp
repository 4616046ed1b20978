#include "harness/device/cpu/runtime/partial_values.h"

#include "harness/device/cpu/runtime/warp_context.h"

#include <bit>
#include <cstring>

namespace assay::cpu {
namespace {

unsigned all_bytes(unsigned bytes) { return (1u << bytes) - 1; }

std::uint64_t value_at(const void* values, unsigned lane, unsigned bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const std::byte*>(values) + std::size_t{lane} * bytes, bytes);
  return bits;
}

std::uint64_t bits_of_bytes(unsigned bytes) {
  std::uint64_t bits = 0;
  for (unsigned byte = 0; byte < 8; ++byte)
    if ((bytes >> byte & 1) != 0) bits |= std::uint64_t{0xff} << (8 * byte);
  return bits;
}
unsigned bytes_of_bits(std::uint64_t bits) {
  unsigned bytes = 0;
  for (unsigned byte = 0; byte < 8; ++byte)
    if ((bits >> (8 * byte) & 0xff) != 0) bytes |= 1u << byte;
  return bytes;
}

// An operand's value in one lane, and its undefined bits.
struct Bits {
  std::uint64_t value = 0, undefined = 0;
};

// Bit k of the table is the result where the operands' bits read k, the first the highest. Undefined where
// the undefined operands decide it.
std::uint64_t through_table(const Bits (&x)[3], unsigned table) {
  std::uint64_t ever = 0, always = ~std::uint64_t{0};
  for (unsigned choice = 0; choice < 8; ++choice) {
    std::uint64_t result = 0;
    for (unsigned row = 0; row < 8; ++row) {
      if ((table >> row & 1) == 0) continue;
      std::uint64_t term = ~std::uint64_t{0};
      for (unsigned k = 0; k < 3; ++k) {
        const std::uint64_t taken =
            (choice >> k & 1) != 0 ? x[k].value | x[k].undefined : x[k].value & ~x[k].undefined;
        term &= (row >> (2 - k) & 1) != 0 ? taken : ~taken;
      }
      result |= term;
    }
    ever |= result;
    always &= result;
  }
  return ever & ~always;
}

std::uint64_t through_shift(BitOp op, const Bits& x, const Bits& amount, unsigned width) {
  if (amount.undefined != 0) return ~std::uint64_t{0};
  const std::uint64_t by = amount.value < width ? amount.value : width;
  if (op == BitOp::shift_left) return by < 64 ? x.undefined << by : 0;
  std::uint64_t undefined = by < 64 ? x.undefined >> by : 0;
  if (op == BitOp::shift_right_sign && (x.undefined >> (width - 1) & 1) != 0)
    for (std::uint64_t k = by < width ? width - by : 0; k < width; ++k) undefined |= std::uint64_t{1} << k;
  return undefined;
}

std::uint64_t through_permute(const Bits (&x)[3]) {
  if ((x[2].undefined & 0xffff) != 0) return ~std::uint64_t{0};
  const std::uint64_t source = (x[0].undefined & 0xffffffffu) | x[1].undefined << 32;
  std::uint64_t undefined = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const unsigned select = static_cast<unsigned>(x[2].value >> (4 * byte)) & 15;
    if ((source >> (8 * (select & 7)) & 0xff) != 0) undefined |= std::uint64_t{0xff} << (8 * byte);
  }
  return undefined;
}

unsigned through(const BitRule& rule, const Bits (&x)[3]) {
  switch (rule.op) {
  case BitOp::parts: {
    const unsigned bytes = bytes_of_bits(x[0].undefined | x[1].undefined | x[2].undefined);
    unsigned spread = 0;
    for (unsigned part = 0; part < rule.bytes; part += rule.argument)
      if (const unsigned mask = all_bytes(rule.argument) << part; (bytes & mask) != 0) spread |= mask;
    return spread;
  }
  case BitOp::table:
    return bytes_of_bits(through_table(x, rule.argument));
  case BitOp::shift_left:
  case BitOp::shift_right:
  case BitOp::shift_right_sign:
    return bytes_of_bits(through_shift(rule.op, x[0], x[1], 8u * rule.bytes));
  case BitOp::permute:
    break;
  }
  return bytes_of_bits(through_permute(x));
}

unsigned operand_bytes(const BitRule& rule, unsigned k) {
  const bool amount =
      rule.op == BitOp::shift_left || rule.op == BitOp::shift_right || rule.op == BitOp::shift_right_sign;
  return amount && k == 1 ? 4 : rule.bytes;
}

} // namespace

void PartialValues::note(unsigned lane, std::uint64_t bits, unsigned bytes, unsigned undefined) {
  const Key key{bits, lane, bytes};
  if (undefined == all_bytes(bytes)) { // no longer partly
    if (!known_.empty()) known_.erase(key);
    return;
  }
  if (known_.size() >= most) known_.clear();
  known_[key] = static_cast<std::uint8_t>(undefined);
}

unsigned PartialValues::undefined_bytes(unsigned lane, std::uint64_t bits, unsigned bytes) const {
  const auto found = known_.find({bits, lane, bytes});
  return found == known_.end() ? all_bytes(bytes) : found->second;
}

std::uint32_t assay_part_undefined(Warp* warp, std::uint32_t lanes, const std::uint64_t* values,
                                   std::uint32_t bytes, std::uint32_t first, std::uint32_t count) {
  const WarpContext& context = context_of(warp);
  const unsigned part = all_bytes(count) << first;
  std::uint32_t found = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if ((context.partials.undefined_bytes(lane, values[lane], bytes) & part) != 0) found |= 1u << lane;
  }
  return found;
}

void assay_note_partial(Warp* warp, std::uint32_t lanes, const std::uint64_t* values, std::uint32_t bytes,
                        std::uint32_t parts, const std::uint32_t* undefined) {
  WarpContext& context = context_of(warp);
  const unsigned each = bytes / parts;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    unsigned mask = 0;
    for (unsigned part = 0; part < parts; ++part)
      if ((undefined[part] >> lane & 1) != 0) mask |= all_bytes(each) << (part * each);
    if (mask != 0) context.partials.note(lane, values[lane], bytes, mask);
  }
}

std::uint32_t assay_bits_undefined(Warp* warp, std::uint32_t lanes, const BitRule* rule,
                                   const void* const* operands, const std::uint32_t* undefined,
                                   const void* result) {
  WarpContext& context = context_of(warp);
  std::uint32_t found = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    Bits x[3];
    for (unsigned k = 0; k < rule->operands; ++k) {
      const unsigned bytes = operand_bytes(*rule, k);
      x[k].value = value_at(operands[k], lane, bytes);
      if ((undefined[k] >> lane & 1) != 0)
        x[k].undefined = bits_of_bytes(context.partials.undefined_bytes(lane, x[k].value, bytes));
    }
    const unsigned mask = through(*rule, x) & all_bytes(rule->bytes);
    if (mask == 0) continue;
    found |= 1u << lane;
    context.partials.note(lane, value_at(result, lane, rule->bytes), rule->bytes, mask);
  }
  return found;
}

} // namespace assay::cpu
