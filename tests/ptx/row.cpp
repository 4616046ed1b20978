#include "tests/ptx/row.h"

#include "harness/base/files.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace assay::ptx_tests {
namespace {

using nlohmann::json;

std::size_t bytes_of(const std::string& type) {
  return type.ends_with("64") ? 8 : type.ends_with("16") ? 2 : 4;
}

std::uint64_t parse_bits(const std::string& text) {
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::invalid_argument("bits '" + text + "'");
  return bits;
}

Row parse_row(const json& object) {
  Row row;
  row.name = object.at("name");
  row.ptx = object.at("ptx");
  row.functions = object.value("functions", "");
  row.in = object.at("in").get<std::vector<std::string>>();
  row.out = object.at("out").get<std::vector<std::string>>();
  row.within_ulp = object.value("within_ulp", 0);
  row.faults = object.value("faults", std::vector<std::string>{});
  for (const json& thread : object.at("threads")) {
    if (thread.size() != row.in.size() + row.out.size())
      throw std::invalid_argument("a thread of " + row.name);
    auto& inputs = row.inputs.emplace_back();
    auto& outputs = row.outputs.emplace_back();
    for (std::size_t k = 0; k < thread.size(); ++k) {
      const std::string text = thread[k];
      if (k < row.in.size())
        inputs.push_back(parse_bits(text));
      else
        outputs.push_back(text == "-" ? std::nullopt : std::optional(parse_bits(text)));
    }
  }
  return row;
}

// Float bits as integers whose distance counts representable values.
std::int64_t ordered(std::uint64_t bits) {
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7fffffff);
  return (bits >> 31) != 0 ? -magnitude : magnitude;
}

bool agrees(const Row& row, std::uint64_t got, std::uint64_t wanted) {
  if (got == wanted) return true;
  if (row.within_ulp == 0) return false;
  const bool got_nan = (got & 0x7fffffff) > 0x7f800000, wanted_nan = (wanted & 0x7fffffff) > 0x7f800000;
  if (got_nan || wanted_nan) return got_nan && wanted_nan;
  const std::int64_t distance = ordered(got) - ordered(wanted);
  return static_cast<std::uint64_t>(distance < 0 ? -distance : distance) <= row.within_ulp;
}

Result<BufferId> make_buffer(Device& device, const char* name, BufferRole role, std::size_t bytes,
                             std::span<const std::byte> content) {
  BufferSpec spec;
  spec.name = name;
  spec.role = role;
  spec.dtype = DType::u8;
  spec.shape = {static_cast<std::int64_t>(bytes)};
  spec.initialized = role == BufferRole::input;
  return device.allocate(spec, content);
}

} // namespace

Result<std::vector<Row>> read_rows(const std::string& path) {
  ASSAY_TRY(const std::string text, read_file(path));
  try {
    std::vector<Row> rows;
    for (const json& object : json::parse(text)) rows.push_back(parse_row(object));
    return rows;
  } catch (const std::exception& problem) {
    return user_error({path, 0, 0}, "malformed row file: {}", problem.what());
  }
}

// Each value takes 8 bytes; a thread's values lie together.
std::string kernel_of(const Row& row) {
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n" + row.functions +
      "\n.visible .entry row(.param .u64 inputs, .param .u64 outputs)\n{\n"
      ".reg .pred %p<10>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.reg .b16 %h<10>;\n"
      ".reg .f32 %f<10>;\n.reg .f64 %g<10>;\n.reg .b64 %at_in, %at_out, %thread;\n.reg .b32 %tid32;\n"
      ".shared .align 16 .b8 tile[4096];\n";
  for (std::size_t k = 0; k < row.in.size(); ++k) text += fmt::format(".reg .{} %a{};\n", row.in[k], k);
  for (std::size_t k = 0; k < row.out.size(); ++k) text += fmt::format(".reg .{} %d{};\n", row.out[k], k);
  text += "ld.param.u64 %at_in, [inputs];\nld.param.u64 %at_out, [outputs];\nmov.u32 %tid32, %tid.x;\n"
          "cvt.u64.u32 %thread, %tid32;\n";
  text += fmt::format("mad.lo.u64 %at_in, %thread, {}, %at_in;\n", 8 * row.in.size());
  text += fmt::format("mad.lo.u64 %at_out, %thread, {}, %at_out;\n", 8 * row.out.size());
  for (std::size_t k = 0; k < row.in.size(); ++k)
    text += fmt::format("ld.global.{} %a{}, [%at_in+{}];\n", row.in[k], k, 8 * k);
  text += row.ptx + "\n";
  for (std::size_t k = 0; k < row.out.size(); ++k)
    text += fmt::format("st.global.{} [%at_out+{}], %d{};\n", row.out[k], 8 * k, k);
  return text + "ret;\n}\n";
}

Result<std::string> run_row(const Row& row, Device& device) {
  ASSAY_TRY(auto program, device.load({kernel_of(row), row.name, {}}));
  device.release_all();
  const std::size_t threads = row.inputs.size();
  std::vector<std::byte> in(std::max<std::size_t>(8, threads * row.in.size() * 8)),
      out(threads * row.out.size() * 8);
  for (std::size_t t = 0; t < threads; ++t)
    for (std::size_t k = 0; k < row.in.size(); ++k)
      std::memcpy(in.data() + (t * row.in.size() + k) * 8, &row.inputs[t][k], 8);
  ASSAY_TRY(const BufferId in_buffer, make_buffer(device, "inputs", BufferRole::input, in.size(), in));
  ASSAY_TRY(const BufferId out_buffer, make_buffer(device, "outputs", BufferRole::scratch, out.size(), {}));
  LaunchSpec launch;
  launch.entry = "row";
  launch.block.x = threads;
  launch.args = {in_buffer, out_buffer};
  ASSAY_TRY(const LaunchReport report, device.launch(*program, launch));
  std::vector<std::string> kinds;
  for (const Fault& fault : report.faults) {
    kinds.emplace_back(name_of(fault.kind));
    if (std::ranges::find(row.faults, kinds.back()) == row.faults.end())
      return fmt::format("unexpected fault: {}", fault.message);
  }
  for (const std::string& kind : row.faults)
    if (std::ranges::find(kinds, kind) == kinds.end()) return fmt::format("no fault of kind {}", kind);
  ASSAY_TRY_VOID(device.read(out_buffer, out));
  for (std::size_t t = 0; t < threads; ++t)
    for (std::size_t k = 0; k < row.out.size(); ++k) {
      std::uint64_t got = 0;
      std::memcpy(&got, out.data() + (t * row.out.size() + k) * 8, bytes_of(row.out[k]));
      const auto& wanted = row.outputs[t][k];
      if (wanted && !agrees(row, got, *wanted))
        return fmt::format("thread {}, output {}: got {:x}, not {:x}", t, k, got, *wanted);
    }
  return std::string{};
}

} // namespace assay::ptx_tests
