// Rows of the conformance table: one row is a PTX snippet, the inputs of every thread, and the bits that a
// GPU gave. A file holds one family of instructions:
//
//   { "recorded": {"gpu": ..., "driver": ..., "compiler": ...},        added by record_rows, as are the rows'
//   "bits"
//     "inputs": { "f32,f32": {"types": ["f32", "f32"], "columns": ["7f800000...", "ff800000..."]} },
//     "rows": [ {"ptx": "add.rn.f32 %d0, %a0, %a1;", "inputs": "f32,f32", "out": ["f32"], "bits": ["..."]} ]
//     }
//
// A column holds the values of one operand, thread after thread, as hexadecimal bit patterns of the type's
// width. The snippet sees what tests/ptx/row.h says (%a0, %d0, free registers, `tile`), and %tid32 and %cell:
// the thread's number, and the address of its own 16 bytes of global memory. Optional: "functions",
// module-level PTX before the kernel.
#pragma once

#include "harness/base/error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::conformance {

using Column = std::vector<std::uint64_t>; // by thread

struct InputSet {
  std::vector<std::string> types;
  std::vector<Column> columns;
  std::size_t threads() const { return columns.front().size(); }
};

struct Row {
  std::string ptx, functions;
  std::shared_ptr<const InputSet> inputs;
  std::vector<std::string> out; // PTX types
  std::vector<Column> bits;     // by output; empty: not recorded
};

struct RowFile {
  std::string path;
  std::map<std::string, std::string> recorded;
  std::vector<Row> rows;
};

std::size_t digits_of(const std::string& type); // hexadecimal digits of a value

Result<RowFile> read_row_file(const std::string& path);
// The text of `file` with the bits of its rows and what recorded them.
Result<std::string> with_bits(const std::string& text, const RowFile& file);

// A module with an entry `row_K` for row K: (address of inputs, of outputs, of 16 bytes a thread). Value of
// thread t in column k is the 8 bytes at 8 * (k * threads + t).
std::string module_of(std::span<const Row> rows);

// The input buffer of a row.
std::vector<std::byte> input_bytes(const Row& row);
std::size_t output_size(const Row& row);
std::vector<Column> output_columns(const Row& row, std::span<const std::byte> bytes);

} // namespace assay::conformance
