#include "tests/conformance/rows.h"

#include "harness/base/files.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cstring>
#include <set>
#include <stdexcept>

namespace assay::conformance {
namespace {

using json = nlohmann::ordered_json;

Column parse_column(const std::string& text, std::size_t digits) {
  if (text.empty() || text.size() % digits != 0) throw std::invalid_argument("a column's length");
  Column values;
  for (std::size_t at = 0; at < text.size(); at += digits) {
    std::uint64_t value = 0;
    const char* end = text.data() + at + digits;
    if (std::from_chars(text.data() + at, end, value, 16).ptr != end)
      throw std::invalid_argument("hexadecimal digits");
    values.push_back(value);
  }
  return values;
}

std::string text_of(const Column& column, std::size_t digits) {
  std::string text;
  for (const std::uint64_t value : column) text += fmt::format("{:0{}x}", value, digits);
  return text;
}

InputSet parse_inputs(const json& object) {
  InputSet set;
  set.types = object.at("types").get<std::vector<std::string>>();
  const json& columns = object.at("columns");
  if (set.types.empty() || columns.size() != set.types.size()) throw std::invalid_argument("columns");
  for (std::size_t k = 0; k < set.types.size(); ++k)
    set.columns.push_back(parse_column(columns[k].get<std::string>(), digits_of(set.types[k])));
  for (const Column& column : set.columns)
    if (column.size() != set.threads() || column.size() > 256)
      throw std::invalid_argument("columns of different length");
  return set;
}

Row parse_row(const json& object, const std::map<std::string, std::shared_ptr<const InputSet>>& sets) {
  Row row;
  row.ptx = object.at("ptx");
  row.functions = object.value("functions", "");
  row.inputs = sets.at(object.at("inputs"));
  row.out = object.at("out").get<std::vector<std::string>>();
  if (!object.contains("bits")) return row;
  for (std::size_t k = 0; k < row.out.size(); ++k) {
    row.bits.push_back(parse_column(object.at("bits").at(k), digits_of(row.out[k])));
    if (row.bits.back().size() != row.inputs->threads()) throw std::invalid_argument("bits of " + row.ptx);
  }
  return row;
}

std::string entry_of(const Row& row, std::size_t number) {
  const std::size_t threads = row.inputs->threads();
  std::string text = fmt::format(
      "\n.visible .entry row_{}(.param .u64 inputs, .param .u64 outputs, .param .u64 cells)\n{{\n", number);
  text += ".reg .pred %p<10>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.reg .b16 %h<10>;\n.reg .f32 %f<10>;\n"
          ".reg .f64 %g<10>;\n.reg .b64 %at_in, %at_out, %cell, %thread;\n.reg .b32 %tid32;\n"
          ".shared .align 16 .b8 tile[4096];\n";
  for (std::size_t k = 0; k < row.inputs->types.size(); ++k)
    text += fmt::format(".reg .{} %a{};\n", row.inputs->types[k], k);
  for (std::size_t k = 0; k < row.out.size(); ++k) text += fmt::format(".reg .{} %d{};\n", row.out[k], k);
  text += "ld.param.u64 %at_in, [inputs];\nld.param.u64 %at_out, [outputs];\nld.param.u64 %cell, [cells];\n"
          "mov.u32 %tid32, %tid.x;\ncvt.u64.u32 %thread, %tid32;\nmad.lo.u64 %cell, %thread, 16, %cell;\n"
          "mad.lo.u64 %at_in, %thread, 8, %at_in;\nmad.lo.u64 %at_out, %thread, 8, %at_out;\n";
  for (std::size_t k = 0; k < row.inputs->types.size(); ++k)
    text += fmt::format("ld.global.{} %a{}, [%at_in+{}];\n", row.inputs->types[k], k, 8 * k * threads);
  text += row.ptx + "\n";
  for (std::size_t k = 0; k < row.out.size(); ++k)
    text += fmt::format("st.global.{} [%at_out+{}], %d{};\n", row.out[k], 8 * k * threads, k);
  return text + "ret;\n}\n";
}

} // namespace

std::size_t digits_of(const std::string& type) {
  if (type.ends_with("64")) return 16;
  if (type.ends_with("32")) return 8;
  if (type.ends_with("16")) return 4;
  throw std::invalid_argument("type " + type);
}

Result<RowFile> read_row_file(const std::string& path) {
  ASSAY_TRY(const std::string text, read_file(path));
  RowFile file;
  file.path = path;
  try {
    const json object = json::parse(text);
    if (object.contains("recorded"))
      file.recorded = object["recorded"].get<std::map<std::string, std::string>>();
    std::map<std::string, std::shared_ptr<const InputSet>> sets;
    for (const auto& [name, set] : object.at("inputs").items())
      sets[name] = std::make_shared<const InputSet>(parse_inputs(set));
    for (const json& row : object.at("rows")) file.rows.push_back(parse_row(row, sets));
  } catch (const std::exception& problem) {
    return user_error({path, 0, 0}, "malformed conformance rows: {}", problem.what());
  }
  return file;
}

Result<std::string> with_bits(const std::string& text, const RowFile& file) {
  json object;
  try {
    object = json::parse(text);
  } catch (const std::exception& problem) {
    return user_error({file.path, 0, 0}, "malformed conformance rows: {}", problem.what());
  }
  std::string out = "{\"recorded\": " + json(file.recorded).dump() + ",\n\"inputs\": {";
  std::string comma = "\n";
  for (const auto& [name, set] : object["inputs"].items()) {
    out += comma + json(name).dump() + ": " + set.dump();
    comma = ",\n";
  }
  out += "},\n\"rows\": [";
  comma = "\n";
  for (std::size_t k = 0; k < file.rows.size(); ++k) {
    const Row& row = file.rows[k];
    json one = object["rows"][k];
    one["bits"] = json::array();
    for (std::size_t o = 0; o < row.bits.size(); ++o)
      one["bits"].push_back(text_of(row.bits[o], digits_of(row.out[o])));
    out += comma + one.dump();
    comma = ",\n";
  }
  return out + "\n]}\n";
}

std::string module_of(std::span<const Row> rows) {
  std::string text = ".version 8.7\n.target sm_90\n.address_size 64\n";
  std::set<std::string> functions;
  for (const Row& row : rows)
    if (functions.insert(row.functions).second) text += row.functions;
  for (std::size_t k = 0; k < rows.size(); ++k) text += entry_of(rows[k], k);
  return text;
}

std::vector<std::byte> input_bytes(const Row& row) {
  std::vector<std::byte> bytes;
  for (const Column& column : row.inputs->columns) {
    const auto* begin = reinterpret_cast<const std::byte*>(column.data());
    bytes.insert(bytes.end(), begin, begin + column.size() * 8);
  }
  return bytes;
}

std::size_t output_size(const Row& row) { return 8 * row.inputs->threads() * row.out.size(); }

std::vector<Column> output_columns(const Row& row, std::span<const std::byte> bytes) {
  const std::size_t threads = row.inputs->threads();
  std::vector<Column> columns(row.out.size(), Column(threads));
  for (std::size_t k = 0; k < row.out.size(); ++k)
    for (std::size_t t = 0; t < threads; ++t)
      std::memcpy(&columns[k][t], bytes.data() + 8 * (k * threads + t), digits_of(row.out[k]) / 2);
  return columns;
}

} // namespace assay::conformance
