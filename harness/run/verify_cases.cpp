#include "harness/run/verify_cases.h"

#include "harness/inputs/kinds.h"
#include "harness/inputs/legal.h"
#include "harness/inputs/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace assay {

namespace {

constexpr std::int64_t small_size = 3;       // of the dims that are not under attack
constexpr std::int64_t largest_medium = 320; // a medium shape is one past a tile of at most this size

constexpr std::int64_t production_budget_share = 4; // of the space's budgets

std::string dims_text(const Dims& dims) {
  std::string text;
  for (const auto& [name, size] : dims) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size);
  return text;
}

class Builder {
 public:
  Builder(const CaseSpace& space, std::uint64_t seed) : space_(space), first_seed_(seed << 32) {}

  VerifyCases run() {
    const Dims small = sized([](const DimRange& range) { return small_size * range.multiple_of; });
    const Dims medium = sized([&](const DimRange& range) { return medium_size(range); });
    every_distribution(small);
    if (medium != small) every_distribution(medium);
    if (const auto production = modest_production(small)) every_distribution(*production, true);
    every_shape(small);
    return std::move(result_);
  }

 private:
  template <class Size> Dims sized(Size size) const {
    Dims dims;
    for (const DimRange& range : space_.dims) dims.emplace_back(range.name, legal_size(range, size(range)));
    Dims fitted = dims;
    return fit_budgets(fitted, space_) ? fitted : dims;
  }

  // One dim at its first production size beside small ones, the last that has one: rows longer than any tile.
  std::optional<Dims> modest_production(const Dims& small) const {
    for (std::size_t d = space_.dims.size(); d-- > 0;) {
      const auto& sizes = space_.dims[d].production;
      if (sizes.empty() || !is_legal_size(space_.dims[d], sizes.front())) continue;
      Dims dims = small;
      dims[d].second = sizes.front();
      if (within_budgets(dims, space_, production_budget_share)) return dims;
    }
    return std::nullopt;
  }

  // One past the largest tile that is not large, so that a row fills a tile and begins another.
  static std::int64_t medium_size(const DimRange& range) {
    std::int64_t size = small_size * range.multiple_of;
    for (const std::int64_t tile : range.near)
      if (tile <= largest_medium) size = std::max(size, tile + range.multiple_of);
    return size;
  }

  // Each class in one input at a time, beside usual values, and in all that it fits together (subnormal sums
  // need subnormal terms on both sides); or only the latter.
  void every_distribution(const Dims& dims, bool together_only = false) {
    for (const DistributionRule& rule : distribution_rules()) {
      std::vector<std::string> fitting;
      for (const InputSpec& spec : space_.inputs)
        if (fits(rule.kind, spec.domain)) fitting.push_back(spec.name);
      for (const std::string& input : fitting)
        if (!together_only) add_kind(dims, rule.kind, {input});
      if (together_only || fitting.size() > 1) add_kind(dims, rule.kind, fitting);
    }
  }

  void add_kind(const Dims& dims, DistributionKind kind, const std::vector<std::string>& inputs) {
    for (const DType dtype : space_.dtypes)
      for (const Pass pass : passes()) {
        if (pass == Pass::backward && kind == DistributionKind::specials) continue; // not judged
        Case test_case = plain(dims, dtype, pass);
        bool changed = false;
        for (TensorInput& input : test_case.inputs)
          if (std::ranges::find(inputs, input.tensor) != inputs.end()) {
            input.distribution = make_distribution(kind);
            changed = true;
          }
        if (changed) add(std::move(test_case), false);
      }
  }

  void every_shape(const Dims& small) {
    std::vector<Dims> shapes{sized([](const DimRange& range) { return range.min; })};
    for (std::size_t d = 0; d < space_.dims.size(); ++d) {
      std::set<std::int64_t> sizes{space_.dims[d].min, legal_size(space_.dims[d], 1)};
      for (const std::int64_t tile : space_.dims[d].near) add_edges(space_.dims[d], tile, sizes);
      for (const std::int64_t size : sizes) add_shape(small, d, size, "a tile edge", shapes);
      for (const std::int64_t size : space_.dims[d].production)
        add_shape(small, d, size, "a production size", shapes);
    }
    for (const int step : {-1, 0, 1}) {
      shapes.push_back(sized([&](const DimRange& range) {
        const bool tiled = !range.near.empty();
        return tiled ? std::ranges::min(range.near) + step * range.multiple_of
                     : small_size * range.multiple_of;
      }));
    }
    add_production(shapes);
    for (const Dims& dims : shapes)
      for (const DType dtype : space_.dtypes)
        for (const Pass pass : passes()) {
          add(plain(dims, dtype, pass), true);
          if (auto strided = with_layout(plain(dims, dtype, pass))) add(*std::move(strided), true);
        }
    for (std::size_t d = 0; d < space_.dims.size(); ++d) add_limit(d);
  }

  static void add_edges(const DimRange& range, std::int64_t tile, std::set<std::int64_t>& sizes) {
    for (const int step : {-1, 0, 1})
      if (const std::int64_t size = tile + step * range.multiple_of; is_legal_size(range, size))
        sizes.insert(size);
  }

  // One dim at a size; where that is too much beside the small ones, beside the smallest.
  void add_shape(const Dims& small, std::size_t d, std::int64_t size, const char* what,
                 std::vector<Dims>& shapes) {
    if (!is_legal_size(space_.dims[d], size)) return;
    Dims dims = small;
    dims[d].second = size;
    for (std::size_t e = 0; e < dims.size() && !within_budgets(dims, space_); ++e)
      if (e != d) dims[e].second = legal_size(space_.dims[e], 1);
    if (within_budgets(dims, space_))
      shapes.push_back(std::move(dims));
    else
      result_.not_covered.push_back(
          fmt::format("{}={}, {}: more than the budget of a case", dims[d].first, size, what));
  }

  // A dim at its largest beside the smallest others, where grids and indices give way; where that is more
  // than the budget, at the largest power of two below it. One type is enough.
  void add_limit(std::size_t d) {
    const DimRange& range = space_.dims[d];
    Dims dims;
    for (const DimRange& other : space_.dims) dims.emplace_back(other.name, legal_size(other, 1));
    dims[d].second = legal_size(range, range.max);
    for (std::int64_t size = std::int64_t{1} << 40; size > range.min && !within_budgets(dims, space_);
         size /= 2)
      if (size < range.max) dims[d].second = legal_size(range, size);
    add(plain(dims, space_.dtypes.front(), Pass::forward), false);
  }

  // All dims at their k-th production size together, as far as they have one.
  void add_production(std::vector<Dims>& shapes) {
    std::size_t most = 0;
    for (const DimRange& range : space_.dims) most = std::max(most, range.production.size());
    for (std::size_t k = 0; k < most; ++k) {
      Dims dims;
      for (const DimRange& range : space_.dims) {
        const auto& sizes = range.production;
        dims.emplace_back(range.name, sizes.empty()
                                          ? legal_size(range, 8 * range.multiple_of)
                                          : legal_size(range, sizes[std::min(k, sizes.size() - 1)]));
      }
      const std::string wanted = dims_text(dims);
      for (std::size_t d = 0; d < dims.size() && !within_budgets(dims, space_); ++d)
        if (space_.dims[d].production.empty()) dims[d].second = legal_size(space_.dims[d], 1);
      if (within_budgets(dims, space_))
        shapes.push_back(std::move(dims));
      else
        result_.not_covered.push_back(
            fmt::format("production sizes together ({}): more than the budget of a case", wanted));
    }
  }

  std::vector<Pass> passes() const {
    if (space_.has_backward) return {Pass::forward, Pass::backward};
    return {Pass::forward};
  }

  Case plain(const Dims& dims, DType dtype, Pass pass) const {
    Case result;
    result.manifest = space_.manifest;
    result.source_hash = space_.source_hash;
    result.tolerance = space_.tolerance;
    result.dtype = dtype;
    result.pass = pass;
    result.dims = dims;
    const std::size_t turn = result_.cases.size();
    result.schedule_seed = first_seed_ + turn;
    for (const ParamSpec& spec : space_.params)
      result.params.emplace_back(spec.name, spec.values[turn % spec.values.size()]);
    for (const InputSpec& spec : space_.inputs) {
      if (!takes_part(spec, pass)) continue;
      TensorInput input;
      input.tensor = spec.name;
      input.dtype = spec.dtype;
      input.distribution = usual_distribution(spec.domain);
      input.seed = first_seed_ + 16 * turn + result.inputs.size() + 1;
      result.inputs.push_back(std::move(input));
    }
    return result;
  }

  // The same with strides and offsets wherever the manifest allows them; nullopt where it allows none.
  std::optional<Case> with_layout(Case test_case) const {
    bool changed = false;
    for (TensorInput& input : test_case.inputs) {
      const auto spec = std::ranges::find(space_.inputs, input.tensor, &InputSpec::name);
      const auto shape = shape_of(*spec, test_case.dims);
      if (!shape) continue;
      input.layout.strides = padded_strides(*shape, spec->layout, 3, 2);
      input.layout.offset = spec->layout.offset ? 1 : 0;
      changed |= !input.layout.strides.empty() || input.layout.offset != 0;
    }
    if (!changed) return std::nullopt;
    return test_case;
  }

  void add(Case test_case, bool repeat) {
    Case key = test_case; // seeds alone make no other case
    key.schedule_seed = 0;
    for (TensorInput& input : key.inputs) input.seed = 0;
    if (!within_budgets(test_case.dims, space_)) return;
    if (seen_.insert(to_text(key)).second) result_.cases.push_back({std::move(test_case), repeat});
  }

  const CaseSpace& space_;
  std::uint64_t first_seed_;
  VerifyCases result_;
  std::set<std::string> seen_;
};

} // namespace

VerifyCases verify_cases(const CaseSpace& space, std::uint64_t seed) { return Builder(space, seed).run(); }

} // namespace assay
