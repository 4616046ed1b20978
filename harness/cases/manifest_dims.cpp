#include "harness/cases/manifest_tables.h"

namespace assay::manifest_tables {

using namespace toml_reader;

namespace {

constexpr std::int64_t max_dim = std::int64_t{1} << 40;

Result<std::vector<std::int64_t>> integers(TableReader& reader, std::string_view key) {
  std::vector<std::int64_t> result;
  const toml::node* node = reader.find(key);
  if (node == nullptr) return result;
  ASSAY_TRY(const toml::array* items, list(*node, key, reader.file()));
  for (const toml::node& item : *items) {
    ASSAY_TRY(const std::int64_t value, integer(item, key, reader.file()));
    result.push_back(value);
  }
  return result;
}

Result<void> check_dim(const DimRange& range) {
  const auto [name, min, max, near, production, multiple_of, place] = range;
  if (min < 0) return user_error(place, "dim {}: min = {} is negative", name, min);
  if (max > max_dim) return user_error(place, "dim {}: max = {} is larger than 2^40", name, max);
  if (min > max) return user_error(place, "dim {}: min = {} is larger than max = {}", name, min, max);
  if (multiple_of < 1)
    return user_error(place, "dim {}: multiple_of = {} must be at least 1", name, multiple_of);
  if (max / multiple_of * multiple_of < min)
    return user_error(place, "dim {}: no multiple of {} lies from {} to {}", name, multiple_of, min, max);
  for (const std::int64_t tile : near)
    if (tile < 1 || tile > max_dim)
      return user_error(place, "dim {}: near = {} must be from 1 to 2^40", name, tile);
  for (const std::int64_t size : production)
    if (size < min || size > max || size % multiple_of != 0)
      return user_error(place, "dim {}: production = {} is not a multiple of {} from {} to {}", name, size,
                        multiple_of, min, max);
  return {};
}

Result<DimRange> read_dim(const Entry& entry) {
  DimRange range;
  range.name = entry.key;
  range.place = entry.place;
  if (entry.node->is_integer()) {
    range.min = range.max = entry.node->as_integer()->get();
  } else if (entry.node->is_table()) {
    TableReader reader(*entry.node->as_table(), entry.place, fmt::format("dim {}", entry.key));
    for (const auto& [key, slot] : {std::pair("min", &range.min), std::pair("max", &range.max)}) {
      ASSAY_TRY(const toml::node* value, reader.require(key));
      ASSAY_TRY(*slot, integer(*value, key, entry.place.file));
    }
    ASSAY_TRY(range.near, integers(reader, "near"));
    ASSAY_TRY(range.production, integers(reader, "production"));
    ASSAY_TRY(const std::optional<std::int64_t> multiple, reader.optional_integer("multiple_of"));
    range.multiple_of = multiple.value_or(1);
    ASSAY_TRY_VOID(reader.reject_unknown());
  } else {
    return user_error(place_of(*entry.node, entry.place.file),
                      "dim {} must be an integer or {{ min = ..., max = ... }}, not {}", entry.key,
                      type_name(*entry.node));
  }
  ASSAY_TRY_VOID(check_dim(range));
  return range;
}

} // namespace

Result<void> read_dims(TableReader& root, Names& names, Manifest& out) {
  ASSAY_TRY(const toml::node* node, root.require("dims"));
  ASSAY_TRY(const toml::table* dims, table(*node, "dims", root.file()));
  if (dims->empty())
    return user_error(place_of(*node, root.file()), "[dims] is empty; name every dimension of the op");
  for (const Entry& entry : entries_in_file_order(*dims, root.file())) {
    ASSAY_TRY_VOID(names.declare(entry.key, entry.place, "dim"));
    ASSAY_TRY(DimRange range, read_dim(entry));
    out.dims.push_back(std::move(range));
  }
  return {};
}

Result<void> read_lets(TableReader& root, Names& names, Manifest& out) {
  const toml::node* node = root.find("let");
  if (node == nullptr) return {};
  ASSAY_TRY(const toml::table* lets, table(*node, "let", root.file()));
  for (const Entry& entry : entries_in_file_order(*lets, root.file())) {
    ASSAY_TRY(Expression value, names.expression(*entry.node, fmt::format("let {}", entry.key)));
    ASSAY_TRY_VOID(names.declare(entry.key, entry.place, "let")); // after its value: it may not use itself
    out.lets.push_back({entry.key, std::move(value)});
  }
  return {};
}

} // namespace assay::manifest_tables
