#include "harness/numerics/dtype.h"

#include "harness/base/check.h"

#include <array>

namespace assay {

namespace {

struct Row {
  DType type;
  std::uint8_t size;
  bool is_float;
  std::string_view name;
  std::string_view cuda_name;
};

constexpr std::array<Row, 10> rows{{
    {DType::f64, 8, true, "f64", "double"},
    {DType::f32, 4, true, "f32", "float"},
    {DType::f16, 2, true, "f16", "__half"},
    {DType::bf16, 2, true, "bf16", "__nv_bfloat16"},
    {DType::f8e4m3, 1, true, "f8e4m3", "__nv_fp8_e4m3"},
    {DType::f8e5m2, 1, true, "f8e5m2", "__nv_fp8_e5m2"},
    {DType::i64, 8, false, "i64", "long long"},
    {DType::i32, 4, false, "i32", "int"},
    {DType::i8, 1, false, "i8", "signed char"},
    {DType::u8, 1, false, "u8", "unsigned char"},
}};

const Row& row_of(DType type) {
  const auto index = static_cast<std::size_t>(type);
  ASSAY_CHECK(index < rows.size() && rows[index].type == type, "no such type: {}", index);
  return rows[index];
}

} // namespace

std::size_t size_of(DType type) { return row_of(type).size; }
bool is_float(DType type) { return row_of(type).is_float; }
std::string_view name_of(DType type) { return row_of(type).name; }
std::string_view cuda_name_of(DType type) { return row_of(type).cuda_name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.type;
  return std::nullopt;
}

} // namespace assay
