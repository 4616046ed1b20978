#include "harness/inputs/fill.h"

#include "harness/base/check.h"
#include "harness/base/parallel.h"
#include "harness/inputs/domain_element.h"
#include "harness/inputs/kinds.h"
#include "harness/inputs/lines.h"
#include "harness/numerics/bulk.h"
#include "harness/numerics/formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace assay {

namespace {

constexpr std::size_t chunk = 512;
constexpr double least_drawn = 1 << 13; // elements that are worth a thread

// Elements begin, begin + 1, ... of a kind that element.h defines.
template <DistributionKind kind>
void generate(const ElementContext& context, std::uint64_t begin, std::span<double> out) {
  const auto length = static_cast<std::uint64_t>(context.line_length);
  ElementPlace at{begin, begin / length, static_cast<std::int64_t>(begin % length)};
  const auto step = [&] {
    ++at.index;
    if (++at.place == context.line_length) {
      at.place = 0;
      ++at.line;
    }
  };
  if constexpr (uses_normal(kind)) {
    normal_values(context.seed, begin, out);
    for (double& value : out) {
      value = element_of<kind>(context, at, 0, value);
      step();
    }
  } else if constexpr (uses_word(kind)) {
    std::array<std::uint32_t, 32> block;
    for (std::size_t done = 0; done < out.size();) {
      const std::size_t inside = (begin + done) % 32;
      const std::size_t count = std::min<std::size_t>(32 - inside, out.size() - done);
      element_words_32(context.seed, begin + done - inside, block.data());
      for (std::size_t i = 0; i < count; ++i) {
        out[done + i] = element_of<kind>(context, at, block[inside + i], 0);
        step();
      }
      done += count;
    }
  } else {
    for (double& value : out) {
      value = element_of<kind>(context, at, 0, 0);
      step();
    }
  }
}

using Generator = void (*)(const ElementContext&, std::uint64_t, std::span<double>);

// By kind; null for those that lines.cpp makes.
template <DistributionKind kind> constexpr Generator generator_of() {
  if constexpr (has_element_function(kind))
    return &generate<kind>;
  else
    return nullptr;
}
template <std::size_t... kinds> constexpr auto make_generators(std::index_sequence<kinds...>) {
  return std::array<Generator, sizeof...(kinds)>{generator_of<static_cast<DistributionKind>(kinds)>()...};
}
constexpr auto generators =
    make_generators(std::make_index_sequence<static_cast<std::size_t>(DistributionKind::rotary_split) + 1>());

// One tensor being filled.
class Painter {
 public:
  Painter(Tensor& out, const TensorInput& input, const Domain& domain, DimValues dims)
      : out_(out), input_(input), domain_(domain), type_(out.dtype),
        length_(out.shape.empty() ? 1 : out.shape.back()), count_(out.element_count()) {
    if (domain.kind == Domain::Kind::index || domain.kind == Domain::Kind::target) {
      const auto found = std::ranges::find(dims, domain.limit, &std::pair<std::string, std::int64_t>::first);
      ASSAY_CHECK(found != dims.end() && found->second > 0, "no legal index below {}", domain.limit);
      rule_.limit = found->second;
    }
    rule_.kind = domain.kind;
    rule_.low = type_ == DType::u8 ? 0 : -127;
    rule_.high = type_ == DType::u8 ? 255 : 127;
    if (is_float(type_)) min_normal_ = format_of(type_).min_normal;
  }

  // The lines first, first + step, ...
  void paint(const Distribution& distribution, std::int64_t first, std::int64_t step, std::int64_t lines) {
    const DistributionRule* rule = find_distribution(distribution.kind);
    ASSAY_CHECK(rule != nullptr && fits(rule->kind, domain_), "{} does not fit {}", distribution.kind,
                name_of(domain_.kind));
    const ElementContext context = context_for(distribution);
    const Generator generator = generators[static_cast<std::size_t>(rule->kind)];
    if (generator != nullptr && step == 1) {
      in_ranges(
          static_cast<std::size_t>(lines * length_), least_drawn, [&](std::size_t begin, std::size_t end) {
            paint_elements(rule->kind, generator, context, first * length_ + static_cast<std::int64_t>(begin),
                           first * length_ + static_cast<std::int64_t>(end));
          });
      return;
    }
    const double least = least_drawn / static_cast<double>(length_);
    in_ranges(static_cast<std::size_t>(lines), least, [&](std::size_t begin, std::size_t end) {
      std::vector<double> values(generator == nullptr ? static_cast<std::size_t>(length_) : 0);
      for (std::size_t i = begin; i < end; ++i) {
        const std::int64_t line = first + static_cast<std::int64_t>(i) * step;
        if (generator == nullptr) {
          make_line(rule->kind, context, static_cast<std::uint64_t>(line), values);
          store(rule->kind, line * length_, values);
        } else {
          paint_elements(rule->kind, generator, context, line * length_, (line + 1) * length_);
        }
      }
    });
  }

  void apply(const ElementOverride& element) {
    ASSAY_CHECK(element.index.size() == out_.shape.size(), "an override of rank {} in a tensor of rank {}",
                element.index.size(), out_.shape.size());
    std::int64_t at = 0;
    for (std::size_t d = 0; d < element.index.size(); ++d) {
      ASSAY_CHECK(element.index[d] >= 0 && element.index[d] < out_.shape[d], "index {} in {} places",
                  element.index[d], out_.shape[d]);
      at = at * out_.shape[d] + element.index[d];
    }
    const std::size_t size = size_of(type_);
    std::memcpy(out_.bytes.data() + static_cast<std::size_t>(at) * size, &element.bits,
                size); // little-endian
  }

  // Rows whose scale max|x| / 127 would be below 2^-126 become zero.
  void make_quantizable() {
    const std::size_t size = size_of(type_), length = static_cast<std::size_t>(length_);
    const double least = least_drawn / static_cast<double>(length_);
    in_ranges(static_cast<std::size_t>(lines()), least, [&](std::size_t begin, std::size_t end) {
      std::vector<double> values(length);
      for (std::size_t line = begin; line < end; ++line) {
        const auto bytes = std::span(out_.bytes).subspan(line * length * size, length * size);
        widen(type_, bytes, values);
        double largest = 0;
        for (const double value : values) largest = std::max(largest, std::fabs(value));
        if (largest < 0x1p-119) std::ranges::fill(bytes, std::byte{0});
      }
    });
  }

  std::int64_t lines() const { return length_ == 0 ? 0 : count_ / length_; }

 private:
  ElementContext context_for(const Distribution& distribution) const {
    ElementContext context;
    ASSAY_CHECK(distribution.params.size() <= std::size(context.p), "{} parameters",
                distribution.params.size());
    for (std::size_t i = 0; i < distribution.params.size(); ++i) context.p[i] = distribution.params[i].second;
    context.seed = input_.seed;
    context.line_length = std::max<std::int64_t>(length_, 1);
    const Format& format = format_of(is_float(type_) ? type_ : DType::f64);
    context.precision = format.precision;
    context.largest = format.largest;
    context.top_spacing = Format::power_of_two(format.max_exponent - format.precision + 1);
    context.min_normal = format.min_normal;
    context.min_subnormal = format.min_subnormal;
    return context;
  }

  void paint_elements(DistributionKind kind, Generator generator, const ElementContext& context,
                      std::int64_t begin, std::int64_t end) {
    std::array<double, chunk> buffer;
    while (begin < end) {
      const std::int64_t size =
          std::min<std::int64_t>(chunk - static_cast<std::size_t>(begin) % 32, end - begin);
      const std::span<double> values = std::span(buffer).first(static_cast<std::size_t>(size));
      generator(context, static_cast<std::uint64_t>(begin), values);
      store(kind, begin, values);
      begin += size;
    }
  }

  void make_line(DistributionKind kind, const ElementContext& context, std::uint64_t line,
                 std::span<double> out) const {
    const bool rotary = kind == DistributionKind::rotary || kind == DistributionKind::rotary_split;
    if (kind != DistributionKind::legal && !rotary) return sequential_line(kind, context, type_, line, out);
    ElementPlace at{line * out.size(), line, 0};
    for (double& value : out) {
      value = rotary ? rotary_element(kind == DistributionKind::rotary_split, context, at)
                     : legal_element(rule_, context, at);
      ++at.index;
      ++at.place;
    }
  }

  // Maps reals into the domain, then rounds them to the storage type.
  void store(DistributionKind kind, std::int64_t at, std::span<double> values) {
    if (kind != DistributionKind::legal || domain_.kind == Domain::Kind::scale)
      for (double& value : values) value = map_into_domain(rule_, min_normal_, value);
    if (is_float(type_) && kind != DistributionKind::specials) {
      const double largest = format_of(type_).largest;
      for (double& value : values) value = std::clamp(value, -largest, largest);
    }
    const std::size_t size = size_of(type_);
    narrow(type_, values,
           std::span(out_.bytes).subspan(static_cast<std::size_t>(at) * size, values.size() * size));
  }

  Tensor& out_;
  const TensorInput& input_;
  const Domain& domain_;
  DType type_;
  std::int64_t length_;
  std::int64_t count_;
  DomainRule rule_;
  double min_normal_ = 0;
};

} // namespace

void fill_into(Tensor& out, const TensorInput& input, DType storage, std::span<const std::int64_t> shape,
               const Domain& domain, DimValues dims) {
  out.dtype = storage;
  out.shape.assign(shape.begin(), shape.end());
  const std::int64_t count = out.element_count();
  out.bytes.resize(static_cast<std::size_t>(count) * size_of(storage));
  if (count == 0) return;

  Painter painter(out, input, domain, dims);
  painter.paint(input.distribution, 0, 1, painter.lines());
  for (const LinePatch& patch : input.patches) {
    ASSAY_CHECK(patch.first >= 0 && patch.step >= 1 &&
                    patch.first + (patch.count - 1) * patch.step < painter.lines(),
                "lines {} + {} * {} in {} lines", patch.first, patch.step, patch.count - 1, painter.lines());
    painter.paint(patch.distribution, patch.first, patch.step, patch.count);
  }
  for (const ElementOverride& element : input.overrides) painter.apply(element);
  if (domain.kind == Domain::Kind::quantizable) painter.make_quantizable();
}

Tensor fill(const TensorInput& input, DType storage, std::span<const std::int64_t> shape,
            const Domain& domain, DimValues dims) {
  Tensor result;
  fill_into(result, input, storage, shape, domain, dims);
  return result;
}

} // namespace assay
