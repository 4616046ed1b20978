#include "harness/screen/slot_layout.h"

#include "harness/inputs/neighbours.h"
#include "harness/numerics/formats.h"

#include <algorithm>

namespace assay {

namespace {

constexpr std::uint64_t alignment = 256;
constexpr std::uint64_t smallest_band = 1024, largest_band = std::uint64_t{16} << 10;
constexpr std::int64_t most_elements = std::int64_t{1} << 31;

// As on the host path (device/cuda/patterns.h): NaNs and wild indices first, large numbers in the twins.
constexpr std::uint16_t output_poison[2] = {0x7ff7, 0x5a3c}, scratch_poison[2] = {0x7ff5, 0x5b3a},
                        band_pattern[2] = {0x7ff3, 0x5939};

std::uint64_t round_up(std::uint64_t n) { return (n + alignment - 1) / alignment * alignment; }

StorageRule storage_rule(DType type) {
  StorageRule rule;
  rule.bytes = static_cast<std::int32_t>(size_of(type));
  rule.floating = is_float(type);
  if (!rule.floating) {
    rule.largest = round_value(type, 0x1p70);
    rule.smallest = round_value(type, -0x1p70);
    return rule;
  }
  const Format& format = format_of(type);
  rule.saturates = format.overflow == Overflow::saturate;
  rule.precision = format.precision;
  rule.bias = 1 - format.min_exponent;
  rule.quiet_nan = to_bits(type, std::numeric_limits<double>::quiet_NaN());
  rule.largest = format.largest;
  rule.min_normal = format.min_normal;
  rule.min_subnormal = format.min_subnormal;
  return rule;
}

// Slots are laid out from one buffer to the next; between two of them lies one band.
class Builder {
 public:
  explicit Builder(const Case& test_case) : case_(test_case) {}

  // The first element's place.
  std::uint64_t add(FillRegion::Kind kind, DType type, std::uint64_t bytes, std::uint64_t offset, bool gaps,
                    bool result) {
    const std::uint64_t band = round_up(std::clamp(bytes, smallest_band, largest_band));
    const std::uint64_t begin = round_up(end_ + std::max(band, last_band_)) + offset;
    add_band(end_, begin);
    FillRegion region;
    region.begin = begin;
    region.end = end_ = begin + bytes;
    region.kind = kind;
    region.gaps = gaps;
    if (result) region.element_bytes = static_cast<std::int32_t>(size_of(type));
    std::ranges::copy(kind == FillRegion::Kind::output ? output_poison : scratch_poison, region.pattern);
    add_region(region);
    last_band_ = band;
    return begin;
  }

  void add_input(const PlannedTensor& planned, std::uint64_t place) {
    if (layout_.fill.tensors == fill_tensors || planned.shape.size() > fill_rank) {
      fits_ = false;
      return;
    }
    FillTensor& tensor = layout_.fill.tensor[layout_.fill.tensors++];
    tensor.offset = place;
    tensor.rank = static_cast<std::int32_t>(planned.shape.size());
    std::ranges::copy(planned.shape, tensor.shape);
    std::ranges::copy(planned.strides, tensor.strides);
    tensor.dense = planned.strides.empty();
    tensor.count = 1;
    for (const std::int64_t size : planned.shape) {
      if (size > 0 && tensor.count > most_elements / size) fits_ = false;
      tensor.count = fits_ ? tensor.count * size : 0;
    }
    tensor.line_length = std::max<std::int64_t>(planned.shape.empty() ? 1 : planned.shape.back(), 1);
    tensor.lines = tensor.count / tensor.line_length;
    tensor.storage = storage_rule(planned.dtype);
    const Domain& domain = planned.info->domain;
    tensor.domain.kind = domain.kind;
    tensor.domain.low = planned.dtype == DType::u8 ? 0 : -127;
    tensor.domain.high = planned.dtype == DType::u8 ? 255 : 127;
    const auto limit =
        std::ranges::find(case_.dims, domain.limit, &std::pair<std::string, std::int64_t>::first);
    if (limit != case_.dims.end()) tensor.domain.limit = limit->second;
    if (tensor.storage.bytes <= 4 && tensor.line_length <= longest_sorted_line)
      layout_.sort_bytes =
          std::max(layout_.sort_bytes, static_cast<std::size_t>(sort_bytes(tensor.line_length)));
  }

  SlotLayout& layout() { return layout_; }
  std::optional<SlotLayout> finish() {
    add_band(end_, round_up(end_ + std::max(smallest_band, last_band_)));
    layout_.bytes = layout_.fill.region[std::max(layout_.fill.regions, 1) - 1].end;
    if (!fits_) return std::nullopt;
    return std::move(layout_);
  }

 private:
  void add_band(std::uint64_t begin, std::uint64_t end) {
    FillRegion band;
    band.begin = begin;
    band.end = end;
    std::ranges::copy(band_pattern, band.pattern);
    add_region(band);
  }
  void add_region(const FillRegion& region) {
    fits_ = fits_ && layout_.fill.regions < fill_regions;
    if (fits_) layout_.fill.region[layout_.fill.regions++] = region;
  }

  const Case& case_;
  SlotLayout layout_;
  std::uint64_t end_ = 0, last_band_ = 0;
  bool fits_ = true;
};

std::int64_t extent_of(const PlannedTensor& tensor, std::int64_t count) {
  if (tensor.strides.empty() || count == 0) return count;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) last += (tensor.shape[d] - 1) * tensor.strides[d];
  return last + 1;
}

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

} // namespace

std::optional<SlotLayout> slot_layout(const Plan& plan, const Case& test_case) {
  Builder builder(test_case);
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlannedTensor& tensor = plan.tensors[i];
    std::uint64_t place = 0;
    if (tensor.present) {
      const std::int64_t count = count_of(tensor.shape), extent = extent_of(tensor, count);
      const bool input = tensor.info->role == Role::input || tensor.info->role == Role::upstream;
      const auto kind = input                         ? FillRegion::Kind::input
                        : tensor.info->starts_at_zero ? FillRegion::Kind::zero
                        : tensor.tested               ? FillRegion::Kind::output
                                                      : FillRegion::Kind::scratch;
      const std::uint64_t size = size_of(tensor.dtype);
      place = builder.add(kind, tensor.dtype, static_cast<std::uint64_t>(extent) * size,
                          static_cast<std::uint64_t>(tensor.offset) * size, extent != count, tensor.tested);
      if (input) {
        builder.add_input(tensor, place);
        builder.layout().inputs.push_back(i);
      }
    }
    builder.layout().tensors.push_back(place);
  }
  for (const PlannedScratch& scratch : plan.scratch)
    builder.layout().scratch.push_back(builder.add(
        scratch.zero ? FillRegion::Kind::zero : FillRegion::Kind::scratch, scratch.dtype,
        static_cast<std::uint64_t>(count_of(scratch.shape)) * size_of(scratch.dtype), 0, false, false));
  return builder.finish();
}

bool can_fill(const FillDistribution& distribution, const FillTensor& tensor) {
  if (distribution.kind != DistributionKind::sorted_ascending &&
      distribution.kind != DistributionKind::sorted_descending)
    return true;
  // Numbers that all underflow to zeros have no order that the host's sort would keep.
  return tensor.storage.bytes <= 4 && tensor.line_length <= longest_sorted_line &&
         distribution.p[0] > 0x1p-900;
}

std::optional<FillInput> fill_input(const TensorInput& input, const FillTensor& tensor) {
  const auto result = to_fill_input(input, {tensor.shape, static_cast<std::size_t>(tensor.rank)});
  if (!result || !can_fill(result->base, tensor)) return std::nullopt;
  for (int i = 0; i < result->patches; ++i)
    if (!can_fill(result->patch[i].distribution, tensor)) return std::nullopt;
  return result;
}

} // namespace assay
