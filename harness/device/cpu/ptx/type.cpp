#include "harness/device/cpu/ptx/type.h"

#include <array>

namespace assay::ptx {
namespace {

struct Row {
  std::string_view name;
  Type type;
  std::uint8_t bits;
};

// In the order of the enumeration.
constexpr std::array rows{
    Row{"", Type::none, 0},          Row{"pred", Type::pred, 1},      Row{"b8", Type::b8, 8},
    Row{"b16", Type::b16, 16},       Row{"b32", Type::b32, 32},       Row{"b64", Type::b64, 64},
    Row{"b128", Type::b128, 128},    Row{"u8", Type::u8, 8},          Row{"u16", Type::u16, 16},
    Row{"u32", Type::u32, 32},       Row{"u64", Type::u64, 64},       Row{"s8", Type::s8, 8},
    Row{"s16", Type::s16, 16},       Row{"s32", Type::s32, 32},       Row{"s64", Type::s64, 64},
    Row{"f16", Type::f16, 16},       Row{"f16x2", Type::f16x2, 32},   Row{"bf16", Type::bf16, 16},
    Row{"bf16x2", Type::bf16x2, 32}, Row{"f32", Type::f32, 32},       Row{"f64", Type::f64, 64},
    Row{"tf32", Type::tf32, 32},     Row{"e4m3x2", Type::e4m3x2, 16}, Row{"e5m2x2", Type::e5m2x2, 16},
};

const Row& row_of(Type type) { return rows[static_cast<std::size_t>(type)]; }

} // namespace

unsigned bits_of(Type type) { return row_of(type).bits; }
std::string_view name_of(Type type) { return row_of(type).name; }

std::optional<Type> parse_type(std::string_view name) {
  for (const Row& row : rows)
    if (row.type != Type::none && row.name == name) return row.type;
  return std::nullopt;
}

bool is_signed(Type type) { return type >= Type::s8 && type <= Type::s64; }
bool is_integer(Type type) { return type >= Type::b8 && type <= Type::s64; }
bool is_float(Type type) { return type >= Type::f16 && type <= Type::tf32; }
bool is_untyped(Type type) { return type >= Type::b8 && type <= Type::b128; }

bool same_kind(Type a, Type b) {
  return a == b || is_untyped(a) || is_untyped(b) || (is_integer(a) && is_integer(b));
}

} // namespace assay::ptx
