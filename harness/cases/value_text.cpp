#include "harness/cases/value_text.h"

#include "harness/numerics/formats.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace assay {

namespace {

std::uint64_t mask_of(DType type) {
  return size_of(type) == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size_of(type))) - 1;
}

template <class Number> std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, failure] = [&] {
    if constexpr (std::is_integral_v<Number>)
      return std::from_chars(text.data(), text.data() + text.size(), value, base);
    else
      return std::from_chars(text.data(), text.data() + text.size(), value);
  }();
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// NAME(0x...) with bits that fit the type.
std::optional<std::uint64_t> parse_bits(DType type, std::string_view name, std::string_view text) {
  if (!text.starts_with(name) || !text.ends_with(')')) return std::nullopt;
  text = text.substr(name.size(), text.size() - name.size() - 1);
  if (!text.starts_with("(0x")) return std::nullopt;
  const std::optional<std::uint64_t> bits = parse_number<std::uint64_t>(text.substr(3), 16);
  return bits && *bits <= mask_of(type) ? bits : std::nullopt;
}

std::optional<std::uint64_t> parse_integer(DType type, std::string_view text) {
  const std::optional<std::int64_t> value = parse_number<std::int64_t>(text);
  if (!value) return std::nullopt;
  const int width = static_cast<int>(8 * size_of(type));
  if (type == DType::u8 ? *value < 0 || *value > 255
                        : width < 64 && (*value < -(std::int64_t{1} << (width - 1)) ||
                                         *value >= std::int64_t{1} << (width - 1)))
    return std::nullopt;
  return static_cast<std::uint64_t>(*value) & mask_of(type);
}

std::int64_t signed_value(DType type, std::uint64_t bits) {
  switch (type) {
  case DType::i64:
    return static_cast<std::int64_t>(bits);
  case DType::i32:
    return static_cast<std::int32_t>(bits);
  case DType::i8:
    return static_cast<std::int8_t>(bits);
  default:
    return static_cast<std::int64_t>(bits);
  }
}

} // namespace

std::string value_text(DType type, std::uint64_t bits) {
  if (!is_float(type)) return fmt::format("{}", signed_value(type, bits));
  const double value = from_bits(type, bits);
  if (std::isnan(value))
    return bits == to_bits(type, std::numeric_limits<double>::quiet_NaN()) ? "nan"
                                                                           : fmt::format("nan({:#x})", bits);
  if (type == DType::f64 || std::isinf(value)) return fmt::format("{}", value);
  for (int digits = 1; digits < 17; ++digits) { // few: f32 needs at most 9
    std::string text = fmt::format("{:.{}g}", value, digits);
    if (const auto read = parse_number<double>(text); read && to_bits(type, *read) == bits)
      return fmt::format("{}", *read); // 3e+02 as 300
  }
  return fmt::format("{}", value);
}

std::optional<std::uint64_t> parse_value(DType type, std::string_view text) {
  if (const auto bits = parse_bits(type, "bits", text)) return bits;
  if (!is_float(type)) return parse_integer(type, text);
  if (const auto bits = parse_bits(type, "nan", text); bits && std::isnan(from_bits(type, *bits)))
    return bits;
  if (text == "nan") return to_bits(type, std::numeric_limits<double>::quiet_NaN());
  if (text == "inf" || text == "-inf") {
    const double infinity =
        text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    const std::uint64_t bits = to_bits(type, infinity);
    return std::isinf(from_bits(type, bits)) ? std::optional(bits) : std::nullopt;
  }
  const std::optional<double> value = parse_number<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  const std::uint64_t bits = to_bits(type, *value);
  if (!std::isfinite(from_bits(type, bits)) || (type == DType::f8e4m3 && std::fabs(*value) >= 464))
    return std::nullopt; // 464: half way from 448, the largest, to what would be next
  return bits;
}

} // namespace assay
