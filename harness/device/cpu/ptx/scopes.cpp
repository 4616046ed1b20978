#include "harness/device/cpu/ptx/scopes.h"

#include <charconv>
#include <ranges>

namespace assay::ptx {

Scopes::Found Scopes::find(std::string_view name) const {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  for (const Scope& scope : std::views::reverse(scopes_)) {
    if (auto it = scope.names.find(name); it != scope.names.end()) return it->second;
    // %r12 may belong to %r<98> or, where prefixes end in digits, to %r1<9>; the number has no leading zero.
    for (std::size_t split = digits; split < name.size(); ++split) {
      if (name[split] == '0' && split + 1 != name.size()) continue;
      const auto it = scope.ranges.find(name.substr(0, split));
      if (it == scope.ranges.end()) continue;
      std::uint32_t number = 0;
      const auto parsed = std::from_chars(name.data() + split, name.data() + name.size(), number);
      if (parsed.ec == std::errc{} && number < it->second.count) return {.reg = it->second.first + number};
    }
  }
  return {};
}

} // namespace assay::ptx
