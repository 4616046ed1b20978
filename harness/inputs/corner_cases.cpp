#include "harness/inputs/kinds.h"
#include "harness/inputs/legal.h"
#include "harness/inputs/shapes.h"
#include "harness/numerics/formats.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

namespace assay {

namespace {

using Kind = DistributionKind;

// What breaks kernels most often comes first.
constexpr Kind sweep_order[] = {
    Kind::normal,
    Kind::extreme_logits,
    Kind::large_offset,
    Kind::all_negative,
    Kind::near_constant,
    Kind::one_outlier,
    Kind::index_coded,
    Kind::zero,
    Kind::largest,
    Kind::specials,
    Kind::wide,
    Kind::subnormal,
    Kind::cancelling_pairs,
    Kind::swamping,
    Kind::uniform,
    Kind::ramp,
    Kind::constant,
    Kind::equal,
    Kind::one_hot,
    Kind::half_integers,
    Kind::ties,
    Kind::beside_ties,
    Kind::cancelling_sum,
    Kind::sorted_descending,
    Kind::sorted_ascending,
    Kind::alternating,
    Kind::powers_of_two,
    Kind::signed_zeros,
    Kind::all_positive,
    Kind::sparse,
    Kind::legal,
    Kind::rotary,
    Kind::rotary_split,
};
static_assert(std::size(sweep_order) == static_cast<std::size_t>(Kind::rotary_split) + 1);

constexpr std::int64_t largest_plain_size = 4096; // more of a dim is tried beside ones only

class Sweep {
 public:
  explicit Sweep(const CaseSpace& space) : space_(space) {}

  std::vector<Case> run() {
    const Dims small = small_dims();
    for (const Kind kind : sweep_order)
      for (std::size_t i = 0; i < space_.inputs.size(); ++i)
        if (fits(kind, space_.inputs[i].domain)) {
          const Pass pass = space_.inputs[i].upstream ? Pass::backward : Pass::forward;
          add_kind(small, kind, i, pass);
          if (pass == Pass::forward && space_.has_backward && kind != Kind::specials)
            add_kind(small, kind, i, Pass::backward);
        }
    for (std::size_t i = 0; i < space_.inputs.size(); ++i)
      for (std::size_t k = 0; k < space_.dtypes.size(); ++k) add_wide_normal(small, space_.inputs[i]);
    for (const Kind kind : {Kind::specials, Kind::zero, Kind::largest, Kind::subnormal})
      for (std::size_t k = 0; k < space_.dtypes.size(); ++k) add_kind_everywhere(small, kind);
    for (std::size_t d = 0; d < space_.dims.size(); ++d)
      for (const std::int64_t size : corner_sizes(space_.dims[d])) {
        Dims dims = small;
        dims[d].second = size;
        add_everywhere(dims);
      }
    for (const DimRange& range : space_.dims)
      for (const std::int64_t size : range.production) {
        Dims dims = small;
        for (auto& [name, value] : dims) value = name == range.name ? size : std::min<std::int64_t>(value, 2);
        add_everywhere(dims);
      }
    for (std::size_t d = 0; d < space_.written.size(); ++d)
      for (const std::int64_t written : space_.written[d])
        for (const std::int64_t step : {-1, 0, 1}) { // of a large one only what lies beyond it
          const bool large = written > largest_plain_size;
          if (large && step < 1) continue;
          Dims dims = small;
          for (auto& [name, value] : dims) value = std::min<std::int64_t>(value, large ? 1 : 3);
          dims[d].second = legal_size(space_.dims[d], written + step * space_.dims[d].multiple_of);
          add_next(dims);
        }
    for (std::size_t d = 0; d < space_.dims.size(); ++d)
      for (const std::int64_t size : limit_sizes(space_.dims[d])) {
        Dims dims = smallest_dims();
        dims[d].second = size;
        Case result = plain(dims, next_dtype(), Pass::forward);
        point_to_last(result, space_.dims[d].name, size);
        add(std::move(result));
      }
    for (const InputSpec& spec : space_.inputs)
      add_volume([&](const Dims& dims) {
        const auto shape = shape_of(spec, dims);
        return shape ? element_count(*shape) : 0;
      });
    for (const Budget& budget : space_.budgets)
      add_volume([&](const Dims& dims) { return amount_of(budget, dims).value_or(0); });
    return std::move(cases_);
  }

 private:
  Dims smallest_dims() const {
    Dims dims;
    for (const DimRange& range : space_.dims) dims.emplace_back(range.name, legal_size(range, 1));
    return dims;
  }

  // A few elements along each dim, one more than the smallest tile along the last that has one below 64.
  Dims small_dims() const {
    Dims dims;
    for (const DimRange& range : space_.dims)
      dims.emplace_back(range.name, legal_size(range, range.multiple_of * 3));
    for (std::size_t d = dims.size(); d-- > 0;) {
      const auto& near = space_.dims[d].near;
      if (near.empty()) continue;
      const std::int64_t tile = std::ranges::min(near);
      if (tile < 64) dims[d].second = legal_size(space_.dims[d], tile + space_.dims[d].multiple_of);
      break;
    }
    return dims;
  }

  Case plain(const Dims& dims, DType dtype, Pass pass) {
    Case result;
    result.dtype = dtype;
    result.pass = pass;
    result.dims = dims;
    result.schedule_seed = cases_.size();
    const std::size_t choice = cases_.size();
    for (const ParamSpec& spec : space_.params)
      result.params.emplace_back(spec.name, spec.values[choice % spec.values.size()]);
    for (const InputSpec& spec : space_.inputs) {
      if (!takes_part(spec, pass)) continue;
      result.inputs.push_back({spec.name,
                               spec.dtype,
                               usual_distribution(spec.domain),
                               16 * cases_.size() + result.inputs.size() + 1,
                               {},
                               {},
                               {}});
    }
    return result;
  }

  void add(Case test_case) {
    auto repaired = repair(std::move(test_case), space_);
    if (!repaired) return; // no legal dims at all: whoever runs the first case says so
    if (seen_.insert(to_text(*repaired)).second) cases_.push_back(*std::move(repaired));
  }

  // Every kind meets the types in turn.
  void add_kind(const Dims& dims, Kind kind, std::size_t input, Pass pass) {
    Case result = plain(dims, next_dtype(), pass);
    const auto found = std::ranges::find(result.inputs, space_.inputs[input].name, &TensorInput::tensor);
    found->distribution = make_distribution(kind);
    if (kind == Kind::specials) negative_nan(*found, space_.inputs[input], result);
    add(std::move(result));
  }

  // Scores that are large and yet do not leave all weight to one: what is off in proportion to them shows
  // here.
  void add_wide_normal(const Dims& dims, const InputSpec& spec) {
    constexpr double stddev = 8;
    if (!fits(Kind::normal, spec.domain)) return;
    Case result = plain(dims, next_dtype(), spec.upstream ? Pass::backward : Pass::forward);
    const auto found = std::ranges::find(result.inputs, spec.name, &TensorInput::tensor);
    found->distribution = make_distribution(Kind::normal, std::array{0.0, stddev});
    add(std::move(result));
  }

  // Drawn NaNs have no sign; to code that looks at bits, one with a sign is a negative number.
  static void negative_nan(TensorInput& input, const InputSpec& spec, const Case& test_case) {
    const auto shape = shape_of(spec, test_case.dims);
    const DType type = spec.dtype.value_or(test_case.dtype);
    if (!shape || element_count(*shape) == 0) return;
    const std::uint64_t nan = to_bits(type, std::numeric_limits<double>::quiet_NaN());
    input.overrides.push_back({Shape(shape->size(), 0), nan | sign_bit(type)});
  }

  // An index of few is hardly ever drawn among the last of many.
  void point_to_last(Case& test_case, const std::string& dim, std::int64_t size) const {
    for (TensorInput& input : test_case.inputs) {
      const auto spec = std::ranges::find(space_.inputs, input.tensor, &InputSpec::name);
      const auto shape = shape_of(*spec, test_case.dims);
      if (spec->domain.limit != dim || !shape || element_count(*shape) == 0) continue;
      const DType type = spec->dtype.value_or(test_case.dtype);
      input.overrides.push_back({Shape(shape->size(), 0), to_bits(type, static_cast<double>(size - 1))});
    }
  }

  // What shows only where two inputs meet: infinity and its negative, zero and zero.
  void add_kind_everywhere(const Dims& dims, Kind kind) {
    constexpr double often = 0.5; // share of special values
    Dims longer = dims;
    if (!longer.empty())
      longer.back().second = std::max(longer.back().second, legal_size(space_.dims.back(), 40));
    Case result = plain(longer, next_dtype(), Pass::forward);
    int changed = 0;
    for (TensorInput& input : result.inputs) {
      const auto spec = std::ranges::find(space_.inputs, input.tensor, &InputSpec::name);
      if (!fits(kind, spec->domain)) continue;
      input.distribution = make_distribution(kind);
      if (kind == Kind::specials) input.distribution.params[0].second = often;
      ++changed;
    }
    if (changed > 1) add(std::move(result));
  }

  // Every type and pass; every other one with strides and offsets where they are allowed.
  void add_everywhere(const Dims& dims) {
    for (const DType dtype : space_.dtypes)
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        if (pass == Pass::backward && !space_.has_backward) continue;
        Case result = plain(dims, dtype, pass);
        strided_ = !strided_;
        for (TensorInput& input : result.inputs) {
          const auto spec = std::ranges::find(space_.inputs, input.tensor, &InputSpec::name);
          const auto shape = shape_of(*spec, result.dims);
          if (!strided_ || !shape) continue;
          input.layout.strides = padded_strides(*shape, spec->layout, 3, 2);
          input.layout.offset = spec->layout.offset ? 1 : 0;
        }
        add(std::move(result));
      }
  }

  // More elements or threads than 16 bits count, over dims as even as they go: what no dim shows alone, such
  // as an offset that is too short for the last head or row.
  void add_volume(const auto& amount) {
    constexpr std::int64_t enough = 3 << 15; // half as many again, so that the last line begins beyond, too
    Dims dims = smallest_dims();
    for (std::int64_t now = amount(dims); now < enough; now = amount(dims)) {
      std::optional<std::size_t> shortest;
      Dims longer = dims;
      for (std::size_t d = 0; d < dims.size(); ++d) {
        const DimRange& range = space_.dims[d];
        Dims grown = dims;
        grown[d].second = legal_size(range, dims[d].second + std::max(dims[d].second / 4, range.multiple_of));
        if (amount(grown) <= now || (shortest && dims[d].second >= dims[*shortest].second)) continue;
        shortest = d;
        longer = std::move(grown);
      }
      if (!shortest) return;
      dims = std::move(longer);
    }
    if (!within_budgets(dims, space_) || !volumes_.insert(dims).second) return;
    add(plain(dims, next_dtype(), Pass::forward));
    if (space_.has_backward) add(plain(dims, next_dtype(), Pass::backward));
  }

  // Types and passes in turn.
  void add_next(const Dims& dims) {
    const Pass pass =
        space_.has_backward && (turn_ / space_.dtypes.size()) % 2 ? Pass::backward : Pass::forward;
    add(plain(dims, next_dtype(), pass));
  }

  DType next_dtype() { return space_.dtypes[turn_++ % space_.dtypes.size()]; }

  const CaseSpace& space_;
  std::vector<Case> cases_;
  std::set<std::string> seen_;
  std::set<Dims> volumes_;
  std::size_t turn_ = 0;
  bool strided_ = false;
};

} // namespace

std::vector<Case> corner_cases(const CaseSpace& space) { return Sweep(space).run(); }

} // namespace assay
