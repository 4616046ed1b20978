#include "tests/conformance/launches.h"

#include "harness/base/files.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <filesystem>
#include <stdexcept>

namespace assay::conformance {
namespace {

using json = nlohmann::ordered_json;

constexpr std::array type_names{"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i64", "i32", "i8", "u8"};
constexpr std::array<std::size_t, 10> type_sizes{8, 4, 2, 2, 1, 1, 8, 4, 1, 1};
constexpr std::array role_names{"input", "output", "scratch"};

std::size_t bytes_of(DType type) { return type_sizes.at(static_cast<std::size_t>(type)); }

template <class Names> std::size_t index_of(const Names& names, const std::string& name) {
  for (std::size_t k = 0; k < names.size(); ++k)
    if (names[k] == name) return k;
  throw std::invalid_argument("'" + name + "'");
}

// Bit patterns, most significant digit first, element after element.
std::string to_hex(std::span<const std::byte> bytes, std::size_t element) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += element)
    for (std::size_t k = element; k-- > 0;)
      text += fmt::format("{:02x}", static_cast<unsigned>(bytes[at + k]));
  return text;
}

std::vector<std::byte> from_hex(const std::string& text, std::size_t element, std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * element);
  if (text.size() != 2 * bytes.size()) throw std::invalid_argument("a buffer's length");
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    const std::size_t digit = 2 * (k / element * element + element - 1 - k % element);
    unsigned value = 0;
    if (std::from_chars(&text[digit], &text[digit] + 2, value, 16).ptr != &text[digit] + 2)
      throw std::invalid_argument("hexadecimal digits");
    bytes[k] = static_cast<std::byte>(value);
  }
  return bytes;
}

RecordedBuffer parse_buffer(const json& object) {
  RecordedBuffer buffer;
  buffer.name = object.at("name");
  buffer.role = static_cast<BufferRole>(index_of(role_names, object.at("role")));
  buffer.dtype = static_cast<DType>(index_of(type_names, object.at("type")));
  buffer.count = object.at("count");
  if (buffer.count < 0 || buffer.count > 1 << 20) throw std::invalid_argument("a count");
  buffer.initialized = object.contains("bits");
  if (buffer.initialized) buffer.before = from_hex(object["bits"], bytes_of(buffer.dtype), buffer.count);
  if (object.contains("result"))
    buffer.after = from_hex(object["result"], bytes_of(buffer.dtype), buffer.count);
  return buffer;
}

RecordedLaunch parse_launch(const json& object, std::size_t buffers) {
  RecordedLaunch launch;
  launch.entry = object.at("entry");
  launch.grid = object.at("grid").get<std::array<std::uint64_t, 3>>();
  launch.block = object.at("block").get<std::array<std::uint64_t, 3>>();
  launch.shared_bytes = object.at("shared");
  for (const json& arg : object.at("args")) {
    RecordedLaunch::Value value;
    if (arg.contains("buffer")) {
      value.buffer = arg["buffer"];
      if (value.buffer < 0 || static_cast<std::size_t>(value.buffer) >= buffers)
        throw std::invalid_argument("a buffer");
    } else {
      value.number.size = arg.at("size");
      value.number.bits = std::stoull(arg.at("bits").get<std::string>(), nullptr, 16);
    }
    launch.args.push_back(value);
  }
  return launch;
}

} // namespace

Result<LaunchFile> read_launch_file(const std::string& path) {
  ASSAY_TRY(const std::string text, read_file(path));
  LaunchFile file;
  file.path = path;
  try {
    const json object = json::parse(text);
    if (object.contains("recorded"))
      file.recorded = object["recorded"].get<std::map<std::string, std::string>>();
    file.kernel = object.at("kernel");
    file.ptx_file = object.at("ptx");
    for (const json& one : object.at("cases")) {
      LaunchCase& made = file.cases.emplace_back();
      made.name = one.at("name");
      for (const json& buffer : one.at("buffers")) made.buffers.push_back(parse_buffer(buffer));
      for (const json& launch : one.at("launches"))
        made.launches.push_back(parse_launch(launch, made.buffers.size()));
    }
  } catch (const std::exception& problem) {
    return user_error({path, 0, 0}, "malformed recorded launches: {}", problem.what());
  }
  ASSAY_TRY(file.ptx, read_file((std::filesystem::path(path).parent_path() / file.ptx_file).string()));
  return file;
}

std::string to_text(const LaunchFile& file) {
  json head{{"recorded", file.recorded}, {"kernel", file.kernel}, {"ptx", file.ptx_file}};
  std::string text = head.dump();
  text.pop_back();
  text += ",\n\"cases\": [";
  std::string comma = "\n";
  for (const LaunchCase& one : file.cases) {
    json buffers = json::array(), launches = json::array();
    for (const RecordedBuffer& buffer : one.buffers) {
      json object{{"name", buffer.name},
                  {"role", role_names[static_cast<std::size_t>(buffer.role)]},
                  {"type", type_names[static_cast<std::size_t>(buffer.dtype)]},
                  {"count", buffer.count}};
      if (buffer.initialized) object["bits"] = to_hex(buffer.before, bytes_of(buffer.dtype));
      if (!buffer.after.empty()) object["result"] = to_hex(buffer.after, bytes_of(buffer.dtype));
      buffers.push_back(object);
    }
    for (const RecordedLaunch& launch : one.launches) {
      json args = json::array();
      for (const auto& arg : launch.args)
        args.push_back(arg.buffer >= 0
                           ? json{{"buffer", arg.buffer}}
                           : json{{"size", arg.number.size}, {"bits", fmt::format("{:x}", arg.number.bits)}});
      launches.push_back({{"entry", launch.entry},
                          {"grid", launch.grid},
                          {"block", launch.block},
                          {"shared", launch.shared_bytes},
                          {"args", args}});
    }
    text += comma + json{{"name", one.name}, {"buffers", buffers}, {"launches", launches}}.dump();
    comma = ",\n";
  }
  return text + "\n]}\n";
}

Result<void> record_on_gpu(Gpu& gpu, LaunchCase& one) {
  gpu.free_all();
  std::vector<Gpu::Address> addresses;
  for (const RecordedBuffer& buffer : one.buffers) {
    std::vector<std::byte> bytes = buffer.before;
    bytes.resize(static_cast<std::size_t>(buffer.count) * bytes_of(buffer.dtype), std::byte{0xa5});
    ASSAY_TRY(const Gpu::Address at, gpu.upload(bytes));
    addresses.push_back(at);
  }
  for (const RecordedLaunch& launch : one.launches) {
    std::vector<Gpu::Argument> args;
    for (const auto& arg : launch.args)
      args.push_back({arg.buffer >= 0 ? addresses[static_cast<std::size_t>(arg.buffer)] : arg.number.bits});
    ASSAY_TRY_VOID(gpu.launch(launch.entry, launch.grid, launch.block, launch.shared_bytes, args));
  }
  for (std::size_t k = 0; k < one.buffers.size(); ++k) {
    RecordedBuffer& buffer = one.buffers[k];
    if (buffer.role != BufferRole::output) continue;
    buffer.after.resize(static_cast<std::size_t>(buffer.count) * bytes_of(buffer.dtype));
    ASSAY_TRY_VOID(gpu.download(addresses[k], buffer.after));
  }
  gpu.free_all();
  return {};
}

} // namespace assay::conformance
