// The names a manifest has declared so far, and the expressions that may use them.
#pragma once

#include "harness/cases/expression.h"
#include "harness/cases/toml_reader.h"

#include <map>

namespace assay::manifest_tables {

class Names {
 public:
  explicit Names(std::string file) : file_(std::move(file)) {}

  // `kind` is "dim", "let", "scratch buffer" or "param"; a name belongs to one thing only.
  Result<void> declare(const std::string& name, const Place& place, std::string_view kind);
  bool is_integer(std::string_view name) const; // a dim or a let: what expressions are made of

  // An expression in a string, over the dims and lets declared so far.
  Result<Expression> expression(const toml::node& node, std::string_view what) const;
  // A list of them, `least` to `most`.
  Result<std::vector<Expression>> expressions(toml_reader::TableReader& reader, std::string_view key,
                                              std::size_t least, std::size_t most) const;

 private:
  std::string file_;
  std::map<std::string, std::string, std::less<>> declared_; // name -> kind
};

} // namespace assay::manifest_tables
