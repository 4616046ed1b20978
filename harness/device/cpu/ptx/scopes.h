// Names visible inside a function: registers (also %r<98> ranges) and the variables it declares, by nested
// braces.
#pragma once

#include "harness/device/cpu/ptx/ast.h"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::ptx {

class Scopes {
 public:
  struct Found {
    std::uint32_t reg = no_index;
    std::uint32_t variable = no_index;
  };

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  std::size_t depth() const { return scopes_.size(); }

  // False where this scope already has the name.
  bool declare_register(std::string_view name, std::uint32_t index) {
    return scopes_.back().names.try_emplace(name, Found{.reg = index}).second;
  }
  bool declare_range(std::string_view prefix, std::uint32_t first, std::uint32_t count) {
    return scopes_.back().ranges.try_emplace(prefix, Range{first, count}).second;
  }
  bool declare_variable(std::string_view name, std::uint32_t index) {
    return scopes_.back().names.try_emplace(name, Found{.variable = index}).second;
  }
  Found find(std::string_view name) const;

 private:
  struct Range {
    std::uint32_t first = 0, count = 0;
  };
  struct Scope {
    std::unordered_map<std::string_view, Found> names;
    std::unordered_map<std::string_view, Range> ranges;
  };
  std::vector<Scope> scopes_;
};

} // namespace assay::ptx
