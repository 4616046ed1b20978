// The GPU's fill against the host's, bit for bit: NVRTC's PTX of it, run on the CPU device.
#include "harness/inputs/fill.h"
#include "harness/inputs/kinds.h"
#include "harness/numerics/formats.h"
#include "harness/screen/slot_layout.h"
#include "tests/screen/fill_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

namespace assay {
namespace {

using Kind = DistributionKind;

// One input `x` of a burst, and a scratch buffer behind it.
class Filler {
 public:
  Filler(DType dtype, std::vector<std::int64_t> shape, const Domain& domain, Layout layout = {}) {
    info_.name = "x";
    info_.domain = domain;
    PlannedTensor x;
    x.info = &info_;
    x.dtype = dtype;
    x.shape = std::move(shape);
    x.strides = std::move(layout.strides);
    x.offset = layout.offset;
    x.present = true;
    plan_.tensors.push_back(x);
    output_info_.name = "y";
    output_info_.role = Role::output;
    PlannedTensor y = x;
    y.info = &output_info_;
    y.strides.clear();
    y.offset = 0;
    y.tested = true;
    plan_.tensors.push_back(y);
    plan_.scratch.push_back({"partial", DType::f32, {3}, false});
    case_.dims = {{"n", 100}};
    layout_ = *slot_layout(plan_, case_);
  }

  // False: it is for the host alone.
  bool add(const TensorInput& input) {
    const auto given = fill_input(input, layout_.fill.tensor[0]);
    if (!given) return false;
    given_.push_back(*given);
    inputs_.push_back(input);
    return true;
  }

  // Fills all that was added in one launch and compares each with the host.
  void check() {
    if (inputs_.empty()) return;
    const std::vector<std::byte> bytes = run();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const PlannedTensor& x = plan_.tensors[0];
      const Tensor wanted = fill(inputs_[i], x.dtype, x.shape, info_.domain, case_.dims);
      ASSERT_EQ(dense(bytes.data() + i * layout_.bytes), wanted.bytes)
          << name_of(x.dtype) << " " << to_text(inputs_[i].distribution) << " line "
          << layout_.fill.tensor[0].line_length;
      for (int r = 0; r < layout_.fill.regions; ++r) {
        const FillRegion& region = layout_.fill.region[r];
        if (region.kind == FillRegion::Kind::input) continue;
        for (std::uint64_t at = region.begin; at < region.end; ++at)
          ASSERT_EQ(std::to_integer<int>(bytes[i * layout_.bytes + at]),
                    at % 2 == 0 ? region.pattern[0] & 0xff : region.pattern[0] >> 8)
              << at;
      }
    }
    given_.clear();
    inputs_.clear();
  }

  // What the records say of each case's slot, and of its inputs' sum, once `kernel` has had the slots.
  std::vector<MemoryRecord> remembered(const std::function<void(std::span<std::byte>)>& kernel) {
    return run_all(kernel).records;
  }
  const SlotLayout& layout() const { return layout_; }
  std::pair<std::uint64_t, std::uint64_t> region(FillRegion::Kind kind) const {
    const auto* found = std::ranges::find(layout_.fill.region, kind, &FillRegion::kind);
    return {found->begin, found->end};
  }

  std::vector<std::byte> dense(const std::byte* slot) const {
    const FillTensor& tensor = layout_.fill.tensor[0];
    const auto size = static_cast<std::size_t>(tensor.storage.bytes);
    std::vector<std::byte> result(static_cast<std::size_t>(tensor.count) * size);
    for (std::int64_t i = 0; i < tensor.count; ++i) {
      std::int64_t at = i;
      if (!tensor.dense) {
        at = 0;
        std::int64_t rest = i;
        for (int d = tensor.rank - 1; d >= 0; --d) {
          at += rest % tensor.shape[d] * tensor.strides[d];
          rest /= tensor.shape[d];
        }
      }
      std::memcpy(result.data() + static_cast<std::size_t>(i) * size,
                  slot + tensor.offset + static_cast<std::size_t>(at) * size, size);
    }
    return result;
  }

 private:
  std::vector<std::byte> run() {
    return run_all([](std::span<std::byte>) {}).slots;
  }

  struct Ran {
    std::vector<std::byte> slots; // before the kernel
    std::vector<MemoryRecord> records;
  };
  Ran run_all(const std::function<void(std::span<std::byte>)>& kernel) {
    testing::FillPrograms programs(layout_, given_, static_cast<std::uint32_t>(given_.size()));
    programs.fill();
    programs.sum_before();
    Ran ran{programs.slots, {}};
    kernel(programs.slots);
    programs.judge_memory();
    ran.records = std::move(programs.records);
    return ran;
  }

  TensorInfo info_, output_info_;
  Plan plan_;
  Case case_;
  SlotLayout layout_;
  std::vector<FillInput> given_;
  std::vector<TensorInput> inputs_;
};

TensorInput input_of(Distribution distribution, std::uint64_t seed) {
  return {"x", {}, std::move(distribution), seed, {}, {}, {}};
}

constexpr DType float_types[] = {DType::f64,  DType::f32,    DType::f16,
                                 DType::bf16, DType::f8e4m3, DType::f8e5m2};

TEST(ScreenFill, storage_bits_are_those_of_the_formats) {
  std::mt19937_64 random(1);
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2,
                           DType::i64, DType::i32, DType::i8, DType::u8}) {
    TensorInfo info;
    Plan plan;
    PlannedTensor x;
    x.info = &info;
    x.dtype = type;
    x.shape = {1};
    x.present = true;
    plan.tensors.push_back(x);
    const StorageRule rule = slot_layout(plan, {})->fill.tensor[0].storage;
    for (int i = 0; i < 200000; ++i) {
      std::uint64_t bits = random();
      if (i % 2 == 0) // exponents that the narrow types have, and few bits: ties
        bits = (bits & 0x800f'ff00'0000'0000) | (1023 - 150 + random() % 300) << 52 | (random() % 2 << 51);
      const auto number = std::bit_cast<double>(bits);
      const std::uint64_t wanted = to_bits(type, number);
      ASSERT_EQ(storage_bits(rule, number), wanted) << name_of(type) << " " << number;
      if (number == number) ASSERT_EQ(storage_value(rule, wanted), from_bits(type, wanted)) << name_of(type);
      if (is_float(type) && type != DType::f64 && std::fabs(number) <= rule.largest)
        ASSERT_EQ(rounded_in_range(rule, number), from_bits(type, wanted)) << name_of(type) << " " << number;
    }
  }
}

TEST(ScreenFill, every_kind_in_every_type_is_bit_equal) {
  for (const DType type : float_types)
    for (const std::int64_t cols : {1, 7, 100}) {
      Domain domain;
      domain.specials = true;
      Filler filler(type, {5, cols}, domain);
      for (const DistributionRule& rule : distribution_rules())
        for (const std::uint64_t seed : {0, 77})
          if (fits(rule.kind, domain)) filler.add(input_of(make_distribution(rule.kind), seed));
      filler.check();
      if (HasFatalFailure()) return;
    }
}

// Where the filter decides and where it does not: ties, subnormals, the largest numbers, sums that cancel.
TEST(ScreenFill, normals_in_16_bits_are_bit_equal) {
  const std::vector<double> normals[] = {{0, 1},       {0, -0.03},   {0, 1e-5},         {0, 0x1p-25},
                                         {0, 0x1p-79}, {0, 0x1p-81}, {0, 8000},         {0, 1e4},
                                         {0, 1e37},    {0, 1e38},    {1, 0.001},        {1, 1e-6},
                                         {-1000, 300}, {6e4, 100},   {0x1p-70, 0x1p-70}};
  for (const DType type : {DType::f16, DType::bf16})
    for (const Layout& layout : {Layout{}, Layout{{600, 2}, 1}}) {
      Filler filler(type, {101, 300}, {}, layout);
      for (const std::vector<double>& params : normals)
        EXPECT_TRUE(filler.add(input_of(make_distribution(Kind::normal, params), 1)));
      filler.check();
      if (HasFatalFailure()) return;
    }
}

TEST(ScreenFill, every_domain_is_bit_equal) {
  using D = DomainKind;
  const std::pair<D, DType> domains[] = {{D::index, DType::i32},        {D::index, DType::i64},
                                         {D::target, DType::i64},       {D::boolean, DType::u8},
                                         {D::code, DType::i8},          {D::code, DType::u8},
                                         {D::scale, DType::f32},        {D::rotary, DType::f32},
                                         {D::quantizable, DType::bf16}, {D::quantizable, DType::f32}};
  for (const auto& [kind, type] : domains) {
    Domain domain;
    domain.kind = kind;
    if (kind == D::index || kind == D::target) domain.limit = "n";
    Filler filler(type, {9, 24}, domain);
    for (const DistributionRule& rule : distribution_rules())
      if (fits(rule.kind, domain)) filler.add(input_of(make_distribution(rule.kind), 3));
    filler.check();
    if (HasFatalFailure()) return;
  }
}

TEST(ScreenFill, tiny_rows_are_cleared_where_they_are_quantized) {
  Domain domain;
  domain.kind = DomainKind::quantizable;
  Filler filler(DType::f32, {40, 3}, domain);
  filler.add(input_of(make_distribution(Kind::normal, std::vector<double>{0, 0x1p-119}), 5));
  filler.check();
}

TEST(ScreenFill, patches_overrides_and_layouts) {
  const auto constant = [](double v) { return make_distribution(Kind::constant, std::vector<double>{v}); };
  for (const DType type : {DType::f32, DType::bf16}) {
    Filler filler(type, {6, 33}, {}, {{70, 2}, 3});
    TensorInput x = input_of(make_distribution(Kind::normal), 9);
    x.patches = {{0, 2, 3, constant(2)}, {2, 1, 2, make_distribution(Kind::sorted_descending)}};
    x.overrides = {{{2, 1}, to_bits(type, 9)}, {{5, 32}, to_bits(type, -3)}, {{5, 32}, to_bits(type, 0.5)}};
    EXPECT_TRUE(filler.add(x));
    x.patches[1].distribution = make_distribution(Kind::cancelling_sum);
    EXPECT_TRUE(filler.add(x));
    filler.check();
    x.overrides.resize(fill_overrides + 1, x.overrides[0]);
    EXPECT_FALSE(filler.add(x));
  }
}

TEST(ScreenFill, long_lines_are_sorted_and_too_long_ones_left_to_the_host) {
  Filler filler(DType::bf16, {1, 5000}, {});
  EXPECT_TRUE(filler.add(input_of(make_distribution(Kind::sorted_ascending), 4)));
  filler.check();
  Filler longer(DType::bf16, {1, longest_sorted_line + 1}, {});
  EXPECT_FALSE(longer.add(input_of(make_distribution(Kind::sorted_ascending), 4)));
  Filler wide(DType::f64, {1, 8}, {});
  EXPECT_FALSE(wide.add(input_of(make_distribution(Kind::sorted_ascending), 4)));
}

// Three cases whose kernel writes y; the second one's does something more.
TEST(ScreenMemory, tells_what_a_kernel_did_to_a_slot) {
  using Region = FillRegion::Kind;
  const auto seen = [](const std::function<void(Filler&, std::span<std::byte>)>& wrong) {
    Filler filler(DType::bf16, {3, 7}, {});
    for (const std::uint64_t seed : {1, 2, 3}) filler.add(input_of(make_distribution(Kind::normal), seed));
    const std::size_t size = filler.layout().bytes;
    const auto records = filler.remembered([&](std::span<std::byte> slots) {
      const auto [begin, end] = filler.region(Region::output);
      for (std::size_t c = 0; c < 3; ++c)
        std::ranges::fill(slots.subspan(c * size + begin, end - begin), std::byte{0x3f});
      wrong(filler, slots.subspan(size, size));
    });
    for (const std::size_t c : {0, 2}) {
      EXPECT_EQ(records[c].flags, 0u);
      EXPECT_EQ(records[c].input_sum, 0u);
    }
    return records[1];
  };
  const auto change = [](std::byte& byte) { byte ^= std::byte{0x10}; };

  const MemoryRecord clean = seen([](Filler&, std::span<std::byte>) {});
  EXPECT_EQ(clean.flags, 0u);
  EXPECT_EQ(clean.input_sum, 0u);
  for (const bool last : {false, true}) {
    const MemoryRecord band = seen([&](Filler& filler, std::span<std::byte> slot) {
      const auto [begin, end] = filler.region(Region::band);
      change(slot[last ? end - 1 : begin]);
    });
    EXPECT_EQ(band.flags, memory_flag::band);
    EXPECT_EQ(band.input_sum, 0u);
    const MemoryRecord input = seen([&](Filler& filler, std::span<std::byte> slot) {
      const auto [begin, end] = filler.region(Region::input);
      change(slot[last ? end - 1 : begin]);
    });
    EXPECT_EQ(input.flags, 0u);
    EXPECT_NE(input.input_sum, 0u);
    const MemoryRecord unwritten = seen([&](Filler& filler, std::span<std::byte> slot) {
      const auto [begin, end] = filler.region(Region::output);
      const std::uint16_t poison =
          std::ranges::find(filler.layout().fill.region, Region::output, &FillRegion::kind)->pattern[0];
      std::memcpy(slot.data() + (last ? end - 2 : begin), &poison, 2);
    });
    EXPECT_EQ(unwritten.flags, memory_flag::unwritten);
  }
}

} // namespace
} // namespace assay
