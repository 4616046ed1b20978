// NumPy's archives of arrays (NumPy documentation, "numpy.lib.format"): written, and read from strangers.
#pragma once

#include "harness/base/error.h"
#include "harness/numerics/dtype.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct NpzArray {
  std::string name;
  std::string descriptor; // "<f4"
  std::vector<std::int64_t> shape;
  std::string bytes; // row-major
};

// NumPy's name of a type; bf16 and fp8, which it lacks, as the bit patterns "<u2" and "|u1".
std::string_view numpy_descriptor(DType dtype);

// The same arrays give the same bytes.
Result<std::string> write_npz(const std::vector<NpzArray>& arrays);

// At most `budget` bytes of arrays in all. User errors, at `file`: no archive, no array, another version than
// 1 to 3, column-major or objects, a length that does not fit the shape, more than the budget.
Result<std::vector<NpzArray>> read_npz(std::string_view bytes, std::string_view file, std::uint64_t budget);

} // namespace assay
