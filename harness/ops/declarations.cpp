#include "harness/ops/declarations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

namespace assay {
namespace {

using Fault = std::optional<DeclarationFault>;

template <class... Args>
Fault fault(std::string_view word, fmt::format_string<Args...> text, Args&&... args) {
  return DeclarationFault{std::string(word), fmt::format(text, std::forward<Args>(args)...)};
}

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Every name stands for one thing, in launches and expressions too.
Fault fault_in_names(const Declarations& d) {
  std::set<std::string_view> seen;
  const auto check = [&](std::string_view name, int index, std::size_t place, const char* list) -> Fault {
    if (!is_name(name)) return fault(name, "\"{}\" is no name", name);
    if (!seen.insert(name).second) return fault(name, "the name \"{}\" is given twice", name);
    if (index != static_cast<int>(place))
      return fault(name, "\"{}\" is numbered {}, but stands at place {} of {}", name, index, place, list);
    return std::nullopt;
  };
  for (std::size_t i = 0; i < d.dims.size(); ++i)
    if (Fault found = check(d.dims[i].name, d.dims[i].index, i, "dims[]")) return found;
  for (std::size_t i = 0; i < d.tensors.size(); ++i)
    if (Fault found = check(d.tensors[i].name, d.tensors[i].index, i, "tensors[]")) return found;
  for (std::size_t i = 0; i < d.params.size(); ++i)
    if (Fault found = check(d.params[i].name, d.params[i].index, i, "params[]")) return found;
  return std::nullopt;
}

Fault fault_in_shape(const TensorSpec& spec, std::span<const Dim> dims) {
  std::string_view rest = spec.shape;
  int rank = 1;
  while (true) {
    const std::size_t end = rest.find_first_of(",*");
    std::string_view factor = rest.substr(0, end);
    while (factor.starts_with(' ')) factor.remove_prefix(1);
    while (factor.ends_with(' ')) factor.remove_suffix(1);
    long long number = 0;
    const auto parsed = std::from_chars(factor.data(), factor.data() + factor.size(), number);
    const bool is_number =
        parsed.ec == std::errc() && parsed.ptr == factor.data() + factor.size() && number > 0;
    if (!is_number && std::ranges::find(dims, factor, &Dim::name) == dims.end())
      return fault(spec.name, "the shape \"{}\" of {} has '{}', which is neither a dim nor a number",
                   spec.shape, spec.name, factor);
    if (end == std::string_view::npos) break;
    rank += rest[end] == ',';
    rest.remove_prefix(end + 1);
  }
  if (rank > 4) return fault(spec.name, "{} has {} dimensions; there may be 4", spec.name, rank);
  return std::nullopt;
}

Fault fault_in_tensor(const TensorSpec& spec, const Declarations& d) {
  if (Fault found = fault_in_shape(spec, d.dims)) return found;
  const bool bounded = spec.domain == Domain::Kind::index || spec.domain == Domain::Kind::target;
  if (bounded && std::ranges::find(d.dims, std::string_view(spec.limit), &Dim::name) == d.dims.end())
    return fault(spec.name, "what bounds {} is '{}', which is no dim", spec.name, spec.limit);
  if (spec.role != Role::upstream && spec.role != Role::gradient) return std::nullopt;
  const Role wanted = spec.role == Role::upstream ? Role::output : Role::input;
  const auto of = std::ranges::find(d.tensors, std::string_view(spec.of), &TensorSpec::name);
  if (of == d.tensors.end() || of->role != wanted)
    return fault(spec.name, "{} belongs to '{}', which is no {} in tensors[]", spec.name, spec.of,
                 wanted == Role::output ? "output" : "input");
  return std::nullopt;
}

} // namespace

std::optional<DeclarationFault> fault_in(const Declarations& d) {
  if (Fault found = fault_in_names(d)) return found;
  for (const TensorSpec& spec : d.tensors)
    if (Fault found = fault_in_tensor(spec, d)) return found;
  const auto has = [&](Role role) {
    return std::ranges::find(d.tensors, role, &TensorSpec::role) != d.tensors.end();
  };
  if (!has(Role::output)) return fault("", "the operator has no output");
  if (d.has_backward && !has(Role::gradient))
    return fault("", "there is a backward, but no gradient in tensors[]");
  if (!d.has_backward && has(Role::gradient))
    return fault("", "there are gradients in tensors[], but no backward");
  for (const Dim& dim : d.dims)
    if (dim.min < 0 || dim.multiple_of < 1)
      return fault(dim.name, "dim {}: min {}, multiple_of {}", dim.name, dim.min, dim.multiple_of);
  return std::nullopt;
}

} // namespace assay
