// Typed access to one TOML table whose every key must be asked for: what is left over, missing or of the
// wrong type is a user error at its line. Used by manifest.cpp alone.
#pragma once

#include "harness/base/error.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::toml_reader {

inline Place place_of(const toml::source_region& region, const std::string& file) {
  return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}
inline Place place_of(const toml::node& node, const std::string& file) {
  return place_of(node.source(), file);
}

inline std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
  case toml::node_type::table:
    return "a table";
  case toml::node_type::array:
    return "a list";
  case toml::node_type::string:
    return "a string";
  case toml::node_type::integer:
    return "an integer";
  case toml::node_type::floating_point:
    return "a number";
  case toml::node_type::boolean:
    return "a boolean";
  default:
    return "a date or time";
  }
}

// A key with its value, in file order (TOML tables are sorted by name in memory).
struct Entry {
  std::string key;
  Place place; // of the key
  const toml::node* node;
};

inline std::vector<Entry> entries_in_file_order(const toml::table& table, const std::string& file) {
  std::vector<Entry> entries;
  for (const auto& [key, node] : table)
    entries.push_back({std::string(key.str()), place_of(key.source(), file), &node});
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
  });
  return entries;
}

inline Result<std::int64_t> integer(const toml::node& node, std::string_view what, const std::string& file) {
  if (!node.is_integer())
    return user_error(place_of(node, file), "{} must be an integer, not {}", what, type_name(node));
  return node.as_integer()->get();
}
inline Result<double> number(const toml::node& node, std::string_view what, const std::string& file) {
  if (!node.is_number())
    return user_error(place_of(node, file), "{} must be a number, not {}", what, type_name(node));
  const double value =
      node.is_integer() ? static_cast<double>(node.as_integer()->get()) : node.as_floating_point()->get();
  if (!std::isfinite(value)) return user_error(place_of(node, file), "{} must be finite", what);
  return value;
}
inline Result<std::string> string(const toml::node& node, std::string_view what, const std::string& file) {
  if (!node.is_string())
    return user_error(place_of(node, file), "{} must be a string, not {}", what, type_name(node));
  return node.as_string()->get();
}
inline Result<const toml::array*> list(const toml::node& node, std::string_view what,
                                       const std::string& file) {
  if (!node.is_array())
    return user_error(place_of(node, file), "{} must be a list, not {}", what, type_name(node));
  return node.as_array();
}
inline Result<const toml::table*> table(const toml::node& node, std::string_view what,
                                        const std::string& file) {
  if (!node.is_table())
    return user_error(place_of(node, file), "{} must be a table, not {}", what, type_name(node));
  return node.as_table();
}

class TableReader {
 public:
  // `what` names the table in messages: "[tolerance]".
  TableReader(const toml::table& table, Place place, std::string what)
      : table_(table), place_(std::move(place)), what_(std::move(what)) {}

  const Place& place() const { return place_; }
  const std::string& file() const { return place_.file; }

  // The value of a key, null where the file has none.
  const toml::node* find(std::string_view key) {
    known_.emplace(key);
    return table_.get(key);
  }
  Result<const toml::node*> require(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return user_error(place_, "{} lacks the key \"{}\"", what_, key);
    return node;
  }
  // The place of a key's value, or of the table.
  Place place_of_key(std::string_view key) const {
    const toml::node* node = table_.get(key);
    return node == nullptr ? place_ : place_of(*node, place_.file);
  }

  Result<std::optional<bool>> optional_bool(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    if (!node->is_boolean())
      return user_error(place_of(*node, file()), "{} must be true or false, not {}", key, type_name(*node));
    return node->as_boolean()->get();
  }
  Result<std::optional<std::int64_t>> optional_integer(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    return integer(*node, key, file());
  }
  Result<std::optional<double>> optional_number(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    return number(*node, key, file());
  }
  Result<std::optional<std::string>> optional_string(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return std::nullopt;
    return string(*node, key, file());
  }
  Result<std::string> require_string(std::string_view key) {
    ASSAY_TRY(const toml::node* node, require(key));
    return string(*node, key, file());
  }

  // The first key that nobody asked for.
  Result<void> reject_unknown() const {
    for (const Entry& entry : entries_in_file_order(table_, place_.file))
      if (!known_.contains(entry.key))
        return user_error(entry.place, "unknown key \"{}\" in {}; there are {}", entry.key, what_,
                          fmt::join(known_, ", "));
    return {};
  }

 private:
  const toml::table& table_;
  Place place_;
  std::string what_;
  std::set<std::string> known_;
};

} // namespace assay::toml_reader
