#include "harness/inputs/legal.h"

#include "harness/base/check.h"
#include "harness/inputs/kinds.h"
#include "harness/inputs/shapes.h"
#include "harness/numerics/formats.h"

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

constexpr std::int64_t max_elements = std::int64_t{1} << 31;
constexpr std::int64_t max_offset = 4096;

} // namespace

std::int64_t dim_value(const Dims& dims, std::string_view name) {
  for (const auto& [dim, value] : dims)
    if (dim == name) return value;
  return -1;
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::int64_t line_count(const Shape& shape) {
  const std::int64_t length = shape.empty() ? 1 : shape.back();
  return length == 0 ? 0 : element_count(shape) / length;
}

std::int64_t index_limit(const Domain& domain, const Dims& dims) {
  const bool bounded = domain.kind == Domain::Kind::index || domain.kind == Domain::Kind::target;
  return bounded ? std::max<std::int64_t>(dim_value(dims, domain.limit), 0) : 0;
}

bool takes_part(const InputSpec& spec, Pass pass) { return pass == Pass::backward || !spec.upstream; }

Result<std::vector<std::int64_t>> shape_of(const InputSpec& spec,
                                           std::span<const std::pair<std::string, std::int64_t>> dims) {
  const Scope scope = [&](std::string_view name) -> std::optional<std::int64_t> {
    for (const auto& [dim, value] : dims)
      if (dim == name) return value;
    return std::nullopt;
  };
  std::vector<std::int64_t> shape;
  std::int64_t count = 1;
  for (const Expression& expression : spec.shape) {
    ASSAY_TRY(const std::int64_t size, expression.evaluate(scope));
    if (size < 0)
      return user_error({}, "{} would have {} = {} elements along a dimension", spec.name, expression.text(),
                        size);
    if (__builtin_mul_overflow(count, std::max<std::int64_t>(size, 1), &count) || count > max_elements)
      return user_error({}, "{} would have more than 2^31 elements", spec.name);
    shape.push_back(size);
  }
  return shape;
}

std::optional<std::string> layout_fault(const Layout& layout, const Shape& shape, const LayoutText& allowed) {
  if (layout.offset != 0 && !allowed.offset) return "the kernel's manifest allows no offset";
  if (layout.offset < 0 || layout.offset > max_offset)
    return fmt::format("the offset must be from 0 to {}", max_offset);
  if (layout.strides.empty()) return std::nullopt;
  if (!allowed.strided && !allowed.row_strided) return "the kernel's manifest allows no strides";
  if (layout.strides.size() != shape.size())
    return fmt::format("{} strides for {} dimensions", layout.strides.size(), shape.size());
  if (!allowed.strided && !shape.empty() && shape.back() > 1 && layout.strides.back() != 1)
    return "the last stride must be 1 (row_strided)";
  // In ascending order each stride must step over all that the smaller ones span.
  std::vector<std::pair<std::int64_t, std::int64_t>> steps; // stride, size
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (layout.strides[d] < 1) return "a stride must be at least 1";
    if (shape[d] > 1) steps.emplace_back(layout.strides[d], shape[d]);
  }
  std::ranges::sort(steps);
  std::int64_t span = 1;
  for (const auto& [stride, size] : steps) {
    if (stride < span) return "the strides make elements overlap";
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(stride, size - 1, &reach) || reach + span > max_elements)
      return "the strides span more than 2^31 elements";
    span += reach;
  }
  return std::nullopt;
}

std::vector<std::int64_t> padded_strides(const Shape& shape, const LayoutText& allowed,
                                         std::int64_t row_padding, std::int64_t element_step) {
  if ((!allowed.strided && !allowed.row_strided) || shape.empty() || element_count(shape) == 0) return {};
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = allowed.strided ? element_step : 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step = step * shape[d] + (d + 1 == shape.size() ? row_padding : 0);
  }
  return strides;
}

Result<std::int64_t> amount_of(const Budget& budget, const Dims& dims) {
  return budget.amount.evaluate([&](std::string_view name) -> std::optional<std::int64_t> {
    const std::int64_t value = dim_value(dims, name);
    return value < 0 ? std::nullopt : std::optional(value);
  });
}

bool within_budgets(const Dims& dims, const CaseSpace& space, std::int64_t share) {
  std::int64_t total = 0;
  for (const InputSpec& spec : space.inputs) {
    const auto shape = shape_of(spec, dims);
    if (!shape) return false;
    total += element_count(*shape);
  }
  if (total > std::max<std::int64_t>(space.element_budget / share, 1)) return false;
  return std::ranges::all_of(space.budgets, [&](const Budget& budget) {
    const auto amount = amount_of(budget, dims);
    const std::int64_t limit = share == 1 ? budget.whole_limit : budget.limit / share;
    return amount && *amount <= std::max<std::int64_t>(limit, 1);
  });
}

std::span<const std::int64_t> known_sizes(const CaseSpace& space, std::size_t dim, Rng& rng) {
  const bool written = dim < space.written.size() && !space.written[dim].empty();
  if (written && (space.learnt.empty() || rng.chance(0.5))) return space.written[dim];
  return space.learnt;
}

bool fit_budgets(Dims& dims, const CaseSpace& space, std::int64_t share) {
  while (!within_budgets(dims, space, share)) {
    std::size_t widest = dims.size();
    double most = 1;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::int64_t smallest = legal_size(space.dims[d], space.dims[d].min);
      const double excess =
          static_cast<double>(dims[d].second) / static_cast<double>(std::max<std::int64_t>(smallest, 1));
      if (dims[d].second > smallest && (widest == dims.size() || excess > most)) {
        widest = d;
        most = excess;
      }
    }
    if (widest == dims.size()) return false;
    const DimRange& range = space.dims[widest];
    const std::int64_t halved = legal_size(range, dims[widest].second / 2);
    dims[widest].second = halved < dims[widest].second ? halved : legal_size(range, range.min);
  }
  return true;
}

Distribution usual_distribution(const Domain& domain) {
  switch (domain.kind) {
  case Domain::Kind::real:
  case Domain::Kind::quantizable:
    return make_distribution(DistributionKind::normal);
  case Domain::Kind::rotary:
    return make_distribution(DistributionKind::rotary);
  default:
    return make_distribution(DistributionKind::legal);
  }
}

std::uint64_t convert_bits(DType from, DType to, std::uint64_t bits) {
  if (from == to) return bits;
  const double value = from_bits(from, bits);
  if (std::isnan(value) && is_float(to))
    return to_bits(to, value) | ((bits & sign_bit(from)) != 0 ? sign_bit(to) : 0);
  if (!std::isfinite(value) || !is_float(to)) return to_bits(to, value);
  const double largest = format_of(to).largest;
  return to_bits(to, std::clamp(value, -largest, largest));
}

void set_dtype(Case& test_case, DType dtype) {
  for (TensorInput& input : test_case.inputs)
    if (!input.dtype)
      for (ElementOverride& element : input.overrides)
        element.bits = convert_bits(test_case.dtype, dtype, element.bits);
  test_case.dtype = dtype;
}

} // namespace assay
