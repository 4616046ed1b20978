#include "harness/cases/manifest_names.h"

#include "harness/cases/names.h"

namespace assay::manifest_tables {

using namespace toml_reader;

Result<void> Names::declare(const std::string& name, const Place& place, std::string_view kind) {
  if (!is_name(name))
    return user_error(place, "{} \"{}\" must be a name: letters, digits and '_', at most 64, no digit first",
                      kind, name);
  if (name == "null" || name == "T") return user_error(place, "{} \"{}\" is a reserved name", kind, name);
  const auto [found, fresh] = declared_.emplace(name, kind);
  if (!fresh) return user_error(place, "{} \"{}\" has the name of a {}", kind, name, found->second);
  return {};
}

bool Names::is_integer(std::string_view name) const {
  const auto found = declared_.find(name);
  return found != declared_.end() && (found->second == "dim" || found->second == "let");
}

Result<Expression> Names::expression(const toml::node& node, std::string_view what) const {
  const Place place = place_of(node, file_);
  if (!node.is_string())
    return user_error(place, "{} must be an expression in a string, such as \"64\", not {}", what,
                      type_name(node));
  ASSAY_TRY(Expression result, Expression::parse(node.as_string()->get(), place));
  for (const std::string& name : result.names())
    if (!is_integer(name))
      return user_error(place, "{}: \"{}\" is neither a dim nor a let defined above", what, name);
  return result;
}

Result<std::vector<Expression>> Names::expressions(TableReader& reader, std::string_view key,
                                                   std::size_t least, std::size_t most) const {
  ASSAY_TRY(const toml::node* node, reader.require(key));
  ASSAY_TRY(const toml::array* items, list(*node, key, reader.file()));
  if (items->size() < least || items->size() > most)
    return user_error(place_of(*node, reader.file()), "{} must have {} to {} expressions, not {}", key, least,
                      most, items->size());
  std::vector<Expression> result;
  for (const toml::node& item : *items) {
    ASSAY_TRY(Expression value, expression(item, key));
    result.push_back(std::move(value));
  }
  return result;
}

} // namespace assay::manifest_tables
