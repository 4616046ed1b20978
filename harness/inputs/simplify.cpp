#include "harness/cases/order.h"
#include "harness/cases/value_text.h"
#include "harness/inputs/fill.h"
#include "harness/inputs/kinds.h"
#include "harness/inputs/legal.h"
#include "harness/inputs/shapes.h"
#include "harness/numerics/formats.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace assay {

namespace {

constexpr std::int64_t most_materialised = 2048; // elements of a tensor
constexpr std::size_t most_one_by_one = 64;      // overrides tried each alone
constexpr std::size_t most_constants = 4;        // overrides whose value is tried everywhere

class Simplifier {
 public:
  Simplifier(const Case& test_case, const CaseSpace& space)
      : case_(test_case), space_(space), size_(size_of(test_case)) {}

  std::vector<Case> run(Axis axis) {
    case_.lines = {};
    switch (axis) {
    case Axis::dims:
      dims();
      break;
    case Axis::pass:
      pass();
      break;
    case Axis::dtype:
      dtype();
      break;
    case Axis::layout:
      layout();
      break;
    case Axis::patches:
      patches();
      break;
    case Axis::distributions:
      distributions();
      break;
    case Axis::materialise:
      materialise();
      break;
    case Axis::overrides:
      overrides();
      break;
    case Axis::values:
      values();
      break;
    case Axis::params:
      params();
      break;
    case Axis::seeds:
      seeds();
      break;
    }
    return std::move(found_);
  }

 private:
  // Keeps a candidate if it is legal (as it stands, or once what no longer fits is dropped or moved) and
  // simpler.
  void offer(Case candidate, bool keep_places = false) {
    if (!make_legal(candidate, space_, keep_places)) return;
    if (!(size_of(candidate) < size_)) return;
    if (std::ranges::find(found_, candidate) == found_.end()) found_.push_back(std::move(candidate));
  }

  // A change of one input; `change` returns false where there is nothing to change.
  template <class Change> void offer_input(std::size_t which, Change change) {
    Case candidate = case_;
    if (change(candidate.inputs[which])) offer(std::move(candidate));
  }
  template <class Change> void offer_all_inputs(Change change) {
    Case candidate = case_;
    bool any = false;
    for (TensorInput& input : candidate.inputs) any = change(input) || any;
    if (any) offer(std::move(candidate));
  }

  // --- shapes ---

  void offer_dims(const Dims& dims) {
    Case candidate = case_;
    candidate.dims = dims;
    const bool places = std::ranges::any_of(case_.inputs, [](const TensorInput& input) {
      return !input.patches.empty() || !input.overrides.empty();
    });
    if (places) offer(candidate, true);
    offer(std::move(candidate));
  }

  void dims() {
    Dims all = case_.dims;
    for (auto& [name, size] : all)
      if (const DimRange* range = range_of(name)) size = std::min(size, legal_size(*range, range->min));
    offer_dims(all);
    for (std::size_t d = 0; d < case_.dims.size(); ++d) {
      const DimRange* range = range_of(case_.dims[d].first);
      if (range == nullptr) continue;
      const std::int64_t now = case_.dims[d].second;
      std::vector<std::int64_t> sizes{range->min, 1, 2, 3, 4};
      for (std::int64_t cut = now - range->min; cut > 0; cut /= 2) sizes.push_back(now - cut);
      for (std::int64_t less = 1; less <= 3; ++less) sizes.push_back(now - less * range->multiple_of);
      for (const std::int64_t wanted : sizes) {
        Dims changed = case_.dims;
        changed[d].second = legal_size(*range, wanted);
        if (changed[d].second < now) offer_dims(changed);
      }
    }
  }

  const DimRange* range_of(const std::string& name) const {
    const auto range = std::ranges::find(space_.dims, name, &DimRange::name);
    return range == space_.dims.end() ? nullptr : &*range;
  }

  // --- what the case is about ---

  void pass() {
    Case candidate = case_;
    candidate.pass = Pass::forward;
    offer(std::move(candidate));
  }

  void dtype() {
    for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::f8e4m3}) {
      if (std::ranges::find(space_.dtypes, type) == space_.dtypes.end()) continue;
      Case candidate = case_;
      set_dtype(candidate, type);
      offer(std::move(candidate));
    }
  }

  void params() {
    for (std::size_t i = 0; i < case_.params.size(); ++i)
      for (const ParamSpec& spec : space_.params)
        if (spec.name == case_.params[i].first)
          for (const double value : spec.values) {
            Case candidate = case_;
            candidate.params[i].second = value;
            offer(std::move(candidate));
          }
  }

  void seeds() {
    Case none = case_;
    none.schedule_seed = 0;
    for (TensorInput& input : none.inputs) input.seed = 0;
    offer(none);
    for (std::size_t i = 0; i < case_.inputs.size(); ++i)
      for (const std::uint64_t seed : {0, 1, 2, 3})
        offer_input(i, [&](TensorInput& input) { return std::exchange(input.seed, seed) != seed; });
    for (const std::uint64_t seed : {0, 1, 2, 3}) {
      Case candidate = case_;
      candidate.schedule_seed = seed;
      offer(std::move(candidate));
    }
  }

  void layout() {
    const auto dense = [](TensorInput& input) { return std::exchange(input.layout, Layout{}) != Layout{}; };
    offer_all_inputs(dense);
    for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
      offer_input(i, dense);
      offer_input(i, [](TensorInput& input) { return std::exchange(input.layout.offset, 0) != 0; });
      offer_input(i, [](TensorInput& input) { return !std::exchange(input.layout.strides, {}).empty(); });
      if (!case_.inputs[i].layout.strides.empty()) plainer_strides(i);
      offer_input(
          i, [](TensorInput& input) { return input.layout.offset > 1 && (input.layout.offset = 1) == 1; });
    }
  }

  void plainer_strides(std::size_t which) {
    const InputSpec* spec = spec_of(case_.inputs[which]);
    const auto shape = spec == nullptr ? Result<Shape>(Shape{}) : shape_of(*spec, case_.dims);
    if (spec == nullptr || !shape) return;
    for (const auto& [padding, step] : {std::pair(1, 1), std::pair(0, 2)}) {
      const auto strides = padded_strides(*shape, spec->layout, padding, step);
      offer_input(
          which, [&](TensorInput& input) { return std::exchange(input.layout.strides, strides) != strides; });
    }
  }

  const InputSpec* spec_of(const TensorInput& input) const {
    const auto spec = std::ranges::find(space_.inputs, input.tensor, &InputSpec::name);
    return spec == space_.inputs.end() ? nullptr : &*spec;
  }

  // --- values ---

  void patches() {
    offer_all_inputs([](TensorInput& input) { return !std::exchange(input.patches, {}).empty(); });
    for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
      offer_without_parts(i, &TensorInput::patches);
      for (const LinePatch& patch : case_.inputs[i].patches) // what fails in some lines may fail in all
        offer_input(i, [&](TensorInput& input) {
          input.distribution = patch.distribution;
          return !std::exchange(input.patches, {}).empty();
        });
      for (std::size_t p = 0; p < case_.inputs[i].patches.size(); ++p) {
        const auto shrink = [&](auto change) {
          offer_input(i, [&](TensorInput& input) {
            const LinePatch before = input.patches[p];
            change(input.patches[p]);
            return input.patches[p] != before;
          });
        };
        shrink([](LinePatch& patch) { patch = {0, 1, 1, patch.distribution}; });
        shrink([](LinePatch& patch) { patch.count = 1; });
        shrink([](LinePatch& patch) { patch.count = (patch.count + 1) / 2; });
        shrink([](LinePatch& patch) { patch.step = 1; });
        shrink([](LinePatch& patch) { patch.first = 0; });
      }
    }
  }

  // Without all, each half, quarter, eighth, sixteenth of a list, and where it is short, without each entry
  // alone.
  template <class Entries> void offer_without_parts(std::size_t which, Entries TensorInput::* list) {
    const std::size_t count = (case_.inputs[which].*list).size();
    const std::size_t finest = count <= most_one_by_one ? count : 16;
    for (std::size_t parts = 1; count > 0; parts = std::min(2 * parts, finest)) {
      for (std::size_t part = 0; part < parts; ++part)
        offer_input(which, [&](TensorInput& input) {
          auto& entries = input.*list;
          const auto first = static_cast<std::ptrdiff_t>(part * count / parts);
          const auto last = static_cast<std::ptrdiff_t>((part + 1) * count / parts);
          entries.erase(entries.begin() + first, entries.begin() + last);
          return first != last;
        });
      if (parts >= finest) break;
    }
  }

  void overrides() {
    for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
      offer_without_parts(i, &TensorInput::overrides);
      constants(i);
    }
  }

  // One of the overriding values everywhere, and nothing else.
  void constants(std::size_t which) {
    const TensorInput& now = case_.inputs[which];
    const DType type = now.dtype.value_or(case_.dtype);
    for (std::size_t e = 0; e < std::min(now.overrides.size(), most_constants); ++e)
      offer_input(which, [&](TensorInput& input) {
        set_kind(input, input.distribution, DistributionKind::constant);
        if (input.distribution.kind != "constant") return false;
        input.distribution.params[0].second = from_bits(type, now.overrides[e].bits);
        input.overrides.clear();
        input.patches.clear();
        return check_distribution(input.distribution, {}).has_value();
      });
  }

  void distributions() {
    for (const DistributionKind kind : {DistributionKind::zero, DistributionKind::constant})
      offer_all_inputs([&](TensorInput& input) { return set_kind(input, input.distribution, kind); });
    for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
      simpler_kinds(i, [](TensorInput& input) -> Distribution& { return input.distribution; });
      for (std::size_t p = 0; p < case_.inputs[i].patches.size(); ++p)
        simpler_kinds(i, [p](TensorInput& input) -> Distribution& { return input.patches[p].distribution; });
    }
  }

  bool set_kind(const TensorInput& input, Distribution& distribution, DistributionKind kind) const {
    const InputSpec* spec = spec_of(input);
    if (spec == nullptr || !fits(kind, spec->domain)) return false;
    const Distribution wanted = make_distribution(kind);
    return std::exchange(distribution, wanted) != wanted;
  }

  template <class Get> void simpler_kinds(std::size_t which, Get get) {
    TensorInput copy = case_.inputs[which];
    const Distribution now = get(copy);
    const DistributionRule* rule = find_distribution(now.kind);
    if (rule == nullptr) return;
    for (const DistributionRule& simpler_rule : distribution_rules()) {
      if (simpler_rule.kind > rule->kind) break; // its own kind once more, at its defaults
      offer_input(which, [&](TensorInput& input) { return set_kind(input, get(input), simpler_rule.kind); });
      for (std::size_t p = 0; p < simpler_rule.params.size(); ++p)
        if (simpler_rule.params[p].name == "place") // at the ends of a line rather than inside
          for (const double place : {0.0, 1.0})
            offer_input(which, [&](TensorInput& input) {
              return set_kind(input, get(input), simpler_rule.kind) &&
                     (get(input).params[p].second = place, true);
            });
      if (simpler_rule.kind == DistributionKind::constant) // a constant as large as what it replaces
        for (const auto& [name, value] : now.params)
          offer_input(which, [&](TensorInput& input) {
            return set_kind(input, get(input), DistributionKind::constant) &&
                   (get(input).params[0].second = value, true);
          });
    }
    for (std::size_t p = 0; p < now.params.size(); ++p) {
      const DistributionParam& param = rule->params[p];
      const double value = now.params[p].second;
      for (const double rounder : {param.initial, 0.0, 1.0, -1.0, std::round(value), digits(value, 1),
                                   digits(value, 2), digits(value, 3)})
        offer_input(which, [&](TensorInput& input) {
          Distribution& distribution = get(input);
          distribution.params[p].second = rounder;
          return distribution != now && check_distribution(distribution, {}).has_value();
        });
    }
  }

  static double digits(double value, int count) {
    const std::string text = fmt::format("{:.{}g}", value, count);
    double rounded = value;
    std::from_chars(text.data(), text.data() + text.size(), rounded);
    return rounded;
  }

  void materialise() {
    for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
      const TensorInput& input = case_.inputs[i];
      const InputSpec* spec = spec_of(input);
      const DistributionRule* rule = find_distribution(input.distribution.kind);
      if (spec == nullptr || rule == nullptr || (rule->spread == Spread::nothing && input.patches.empty()))
        continue;
      const auto shape = shape_of(*spec, case_.dims);
      if (!shape || element_count(*shape) == 0) continue;
      if (element_count(*shape) > most_materialised) {
        one_element(i, *shape);
        continue;
      }
      const DType type = spec->dtype.value_or(case_.dtype);
      const Tensor tensor = fill(input, type, *shape, spec->domain, case_.dims);
      for (const DistributionKind base : {DistributionKind::zero, DistributionKind::constant})
        if (fits(base, spec->domain)) {
          offer_input(i, [&](TensorInput& changed) {
            become(changed, base, tensor);
            return true;
          });
          break;
        }
    }
  }

  // Of a large tensor the last element, else the first, that differs from zeros.
  void one_element(std::size_t which, const Shape& shape) {
    for (const bool last : {true, false})
      offer_input(which, [&](TensorInput& input) {
        set_kind(input, input.distribution, DistributionKind::zero);
        if (input.distribution.kind != "zero") return false;
        ElementOverride element;
        for (const std::int64_t size : shape) element.index.push_back(last ? size - 1 : 0);
        element.bits = to_bits(input.dtype.value_or(case_.dtype), 1);
        input.patches.clear();
        input.overrides = {std::move(element)};
        return true;
      });
  }

  // `base` everywhere, and every element of `tensor` that differs from it as an override.
  void become(TensorInput& input, DistributionKind base, const Tensor& tensor) const {
    input.distribution = make_distribution(base);
    input.seed = 0;
    input.patches.clear();
    input.overrides.clear();
    const std::size_t size = size_of(tensor.dtype);
    const std::uint64_t base_bits = to_bits(tensor.dtype, base == DistributionKind::zero ? 0 : 1);
    for (std::int64_t e = 0; e < tensor.element_count(); ++e) {
      ElementOverride element;
      std::memcpy(&element.bits, tensor.bytes.data() + static_cast<std::size_t>(e) * size, size);
      if (element.bits == base_bits) continue;
      element.index.resize(tensor.shape.size());
      std::int64_t rest = e;
      for (std::size_t d = tensor.shape.size(); d-- > 0; rest /= tensor.shape[d])
        element.index[d] = rest % tensor.shape[d];
      input.overrides.push_back(std::move(element));
    }
  }

  void values() {
    for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
      const TensorInput& now = case_.inputs[i];
      const DType type = now.dtype.value_or(case_.dtype);
      if (now.overrides.size() > most_one_by_one) continue;
      for (std::size_t e = 0; e < now.overrides.size(); ++e) {
        const double value = from_bits(type, now.overrides[e].bits);
        std::vector<double> rounder{0, 1, -1};
        if (std::isfinite(value))
          for (const double wanted :
               {std::trunc(value), digits(value, 1), digits(value, 2), digits(value, 3)})
            rounder.push_back(wanted);
        for (const double wanted : rounder)
          if (const auto bits = parse_value(type, fmt::format("{}", wanted)))
            offer_input(i, [&](TensorInput& input) {
              return std::exchange(input.overrides[e].bits, *bits) != *bits;
            });
      }
    }
  }

  Case case_;
  const CaseSpace& space_;
  CaseSize size_;
  std::vector<Case> found_;
};

} // namespace

std::vector<Case> simplifications(const Case& test_case, const CaseSpace& space, Axis axis) {
  return Simplifier(test_case, space).run(axis);
}

} // namespace assay
