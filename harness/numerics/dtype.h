// The element types of tensors, and their bits as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

enum class DType : std::uint8_t { f64, f32, f16, bf16, f8e4m3, f8e5m2, i64, i32, i8, u8 };

std::size_t size_of(DType type);           // bytes of one element
bool is_float(DType type);                 // f64 to f8e5m2
std::string_view name_of(DType type);      // "f32"
std::string_view cuda_name_of(DType type); // "float", "__nv_bfloat16"; the C++ name that ${T} stands for
std::optional<DType> parse_dtype(std::string_view name);

} // namespace assay
