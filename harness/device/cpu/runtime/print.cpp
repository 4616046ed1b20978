// vprintf: conversions as CUDA's printf has them (CUDA C++ Programming Guide, "Formatted Output"); arguments
// lie packed in memory, each aligned to its size, floats widened to double.
#include "harness/device/cpu/runtime/device_text.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdio>
#include <string_view>

namespace assay::cpu {
namespace {

class Arguments {
 public:
  Arguments(WarpContext& context, unsigned lane, std::uint64_t address)
      : context_(context), lane_(lane), address_(address) {}

  std::optional<std::uint64_t> next(unsigned bytes) {
    offset_ = (offset_ + bytes - 1) / bytes * bytes;
    const auto value = read_bits(context_, lane_, address_ + offset_, bytes);
    offset_ += bytes;
    return value;
  }

 private:
  WarpContext& context_;
  unsigned lane_;
  std::uint64_t address_, offset_ = 0;
};

// One conversion by the host's snprintf; `spec` holds flags, width and precision only, so that its output is
// bounded.
template <class T>
void append(std::string& out, const std::string& spec, std::string_view length, char conversion, T value) {
  const std::string format = spec + std::string(length) + conversion;
  std::array<char, 512> buffer;
  const int written = std::snprintf(buffer.data(), buffer.size(), format.c_str(), value);
  if (written > 0)
    out.append(buffer.data(), std::min<std::size_t>(static_cast<std::size_t>(written), buffer.size() - 1));
}

// Returns the number of arguments printed, or nothing where one cannot be read.
std::optional<std::uint32_t> format_into(std::string& out, WarpContext& context, const std::string& format,
                                         Arguments& arguments) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out.push_back(format[i]);
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      out.push_back('%');
      ++i;
      continue;
    }
    std::string spec = "%";
    std::size_t at = i + 1;
    unsigned digits = 0;
    while (at < format.size() && std::string_view("-+ #0123456789.*").contains(format[at])) {
      if (format[at] == '*') {
        const auto width = arguments.next(4);
        if (!width) return std::nullopt;
        spec += std::to_string(static_cast<std::int32_t>(*width) % 100);
      } else if (format[at] < '0' || format[at] > '9') {
        digits = 0;
        spec.push_back(format[at]);
      } else if (++digits <= 2) { // widths beyond 99 are cut
        spec.push_back(format[at]);
      }
      ++at;
    }
    unsigned longs = 0;
    bool halved = false;
    while (at < format.size() && std::string_view("hljztL").contains(format[at])) {
      longs += format[at] == 'l' || format[at] == 'j' || format[at] == 'z' || format[at] == 't' ? 1 : 0;
      halved |= format[at] == 'h';
      ++at;
    }
    if (at == format.size()) break;
    const char conversion = format[at];
    const unsigned bytes = longs ? 8 : 4;
    std::optional<std::uint64_t> bits;
    if (std::string_view("di").contains(conversion)) {
      bits = arguments.next(bytes);
      if (!bits) return std::nullopt;
      const std::int64_t value =
          bytes == 8 ? static_cast<std::int64_t>(*bits) : static_cast<std::int32_t>(*bits);
      append(out, spec, "ll", 'd', static_cast<long long>(halved ? static_cast<std::int16_t>(value) : value));
    } else if (std::string_view("uoxX").contains(conversion)) {
      bits = arguments.next(bytes);
      if (!bits) return std::nullopt;
      append(out, spec, "ll", conversion, static_cast<unsigned long long>(halved ? *bits & 0xffff : *bits));
    } else if (std::string_view("eEfFgGaA").contains(conversion)) {
      bits = arguments.next(8);
      if (!bits) return std::nullopt;
      append(out, spec, "", conversion, std::bit_cast<double>(*bits));
    } else if (conversion == 'c') {
      bits = arguments.next(4);
      if (!bits) return std::nullopt;
      append(out, spec, "", 'c', static_cast<int>(*bits & 0xff));
    } else if (conversion == 'p') {
      bits = arguments.next(8);
      if (!bits) return std::nullopt;
      append(out, spec, "", 's', fmt::format("{:#x}", *bits).c_str());
    } else if (conversion == 's') {
      bits = arguments.next(8);
      if (!bits) return std::nullopt;
      append(out, spec, "", 's', read_text(context, *bits).c_str());
    } else {
      out.append(format, i, at - i + 1);
      i = at;
      continue;
    }
    ++count;
    i = at;
  }
  return count;
}

void print(Launch& launch, std::string_view text) {
  const std::size_t room = max_print_bytes - std::min(launch.printed, max_print_bytes);
  text = text.substr(0, room);
  launch.printed += text.size();
  if (launch.print_sink)
    launch.print_sink->append(text);
  else
    std::fwrite(text.data(), 1, text.size(), stderr);
}

} // namespace

void assay_vprintf(Warp* warp, std::uint32_t lanes, const Site*, const std::uint64_t* format,
                   const std::uint64_t* args, std::uint32_t* result) {
  WarpContext& context = context_of(warp);
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    Arguments arguments(context, lane, args[lane]);
    std::string text;
    const auto count = format_into(text, context, read_text(context, format[lane]), arguments);
    print(*context.launch, text);
    result[lane] = count ? *count : ~0u;
  }
}

} // namespace assay::cpu
