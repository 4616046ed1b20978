// The fundamental types of PTX: what registers and variables are declared as and what instructions name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::ptx {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
  tf32,
  e4m3x2,
  e5m2x2,
};

unsigned bits_of(Type type);                           // pred: 1
std::string_view name_of(Type type);                   // "f32"
std::optional<Type> parse_type(std::string_view name); // without the dot
bool is_signed(Type type);
bool is_integer(Type type); // u*, s* and b*
bool is_float(Type type);   // f16 to tf32, packed ones too
bool is_untyped(Type type); // b8 to b128, which go with every type of their size
// Whether a register declared as one may stand for the other, sizes apart: untyped ones with all, integers of
// either sign with each other, a floating-point format with itself.
bool same_kind(Type a, Type b);

} // namespace assay::ptx
