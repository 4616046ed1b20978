// What each way of spoiling a slot is told as.
#include "harness/inputs/kinds.h"
#include "tests/screen/fill_programs.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace assay {
namespace {

class ScreenSlot : public ::testing::Test {
 protected:
  // An input with gaps, a float and a byte output, one that starts at 0; one case and its twin.
  ScreenSlot() {
    add(x_, DType::bf16, {4, 9}, {11, 1});
    add(y_, DType::f32, {5}, {});
    add(q_, DType::i8, {7}, {});
    add(z_, DType::f16, {3}, {});
    add(h_, DType::bf16, {5}, {});
    layout_ = *slot_layout(plan_, {});
    const TensorInput normal{"x", {}, make_distribution(DistributionKind::normal), 5, {}, {}, {}};
    programs_.emplace(layout_, std::vector{*fill_input(normal, layout_.fill.tensor[0])}, 1, 1);
    programs_->fill();
    programs_->sum_before();
    for (const std::size_t output : {1, 2, 4}) // a kernel that writes all that it must
      for (const std::size_t slot : {0, 1}) std::ranges::fill(bytes_of(output, slot), std::byte{0x11});
  }

  void add(TensorInfo& info, DType dtype, std::vector<std::int64_t> shape,
           std::vector<std::int64_t> strides) {
    PlannedTensor tensor;
    tensor.info = &info;
    tensor.dtype = dtype;
    tensor.shape = std::move(shape);
    tensor.strides = std::move(strides);
    tensor.present = true;
    tensor.tested = info.role == Role::output;
    plan_.tensors.push_back(std::move(tensor));
  }

  std::byte& at(std::size_t tensor, std::int64_t byte, std::size_t slot = 0) {
    return programs_
        ->slots[slot * layout_.bytes + layout_.tensors[tensor] + static_cast<std::uint64_t>(byte)];
  }
  std::span<std::byte> bytes_of(std::size_t tensor, std::size_t slot) {
    const std::size_t sizes[] = {4 * 11 * 2, 5 * 4, 7, 3 * 2, 5 * 2};
    return {&at(tensor, 0, slot), sizes[tensor]};
  }

  MemoryRecord judged(std::size_t slot = 0) {
    programs_->judge_memory();
    programs_->compare_twins();
    return programs_->records[slot];
  }
  void expect_clean() {
    for (const std::size_t slot : {0, 1}) {
      EXPECT_EQ(programs_->records[slot].flags, 0u);
      EXPECT_EQ(programs_->records[slot].input_sum, 0u);
    }
  }

  static TensorInfo tensor(const char* name, Role role, bool starts_at_zero = false) {
    TensorInfo info;
    info.name = name;
    info.role = role;
    info.starts_at_zero = starts_at_zero;
    return info;
  }
  TensorInfo x_ = tensor("x", Role::input), y_ = tensor("y", Role::output), q_ = tensor("q", Role::output),
             z_ = tensor("z", Role::output, true), h_ = tensor("h", Role::output);
  Plan plan_;
  SlotLayout layout_;
  std::optional<testing::FillPrograms> programs_;
};

TEST_F(ScreenSlot, a_right_kernel_leaves_nothing_to_tell) {
  judged();
  expect_clean();
}

TEST_F(ScreenSlot, the_two_worlds_differ_wherever_nobody_wrote) {
  std::size_t same = 0;
  for (int r = 0; r < layout_.fill.regions; ++r) {
    const FillRegion& region = layout_.fill.region[r];
    if (region.kind != FillRegion::Kind::band) continue;
    for (std::uint64_t k = region.begin; k < region.end; ++k)
      same += programs_->slots[k] == programs_->slots[layout_.bytes + k];
  }
  EXPECT_EQ(same, 0u);
  EXPECT_NE(at(0, 18), at(0, 18, 1)); // the gap behind the first row
  EXPECT_EQ(at(0, 16), at(0, 16, 1)); // its last element
}

TEST_F(ScreenSlot, every_byte_beside_a_buffer_is_watched) {
  for (const std::int64_t byte : {-1, 20, 21, 22, 23, 24, 900}) {
    std::byte& beside = at(1, byte);
    const std::byte held = std::exchange(beside, std::byte{0});
    EXPECT_EQ(judged().flags, memory_flag::band) << byte;
    beside = held;
    programs_->records[0].flags = 0;
    programs_->sum_before();
  }
  judged();
  expect_clean();
}

TEST_F(ScreenSlot, a_changed_bit_of_an_input_or_of_its_gaps_is_seen) {
  for (std::int64_t byte = 0; byte < 84; ++byte) {
    at(0, byte) ^= std::byte{4};
    EXPECT_NE(judged().input_sum, 0u) << byte;
    at(0, byte) ^= std::byte{4};
    programs_->records[0].input_sum = 0;
    programs_->sum_before();
    EXPECT_EQ(judged().input_sum, 0u) << byte;
    programs_->sum_before();
  }
}

TEST_F(ScreenSlot, two_elements_of_an_input_that_change_places_are_seen) {
  std::swap(at(0, 0), at(0, 4));
  std::swap(at(0, 1), at(0, 5));
  EXPECT_NE(judged().input_sum, 0u);
}

TEST_F(ScreenSlot, so_are_two_blocks_of_16_bytes_and_their_halves) {
  for (const std::int64_t count : {8, 16}) {
    std::swap_ranges(&at(0, 0), &at(0, count), &at(0, count));
    EXPECT_NE(judged().input_sum, 0u) << count;
    std::swap_ranges(&at(0, 0), &at(0, count), &at(0, count));
    for (MemoryRecord& record : programs_->records) record.input_sum = 0;
    programs_->sum_before();
  }
}

TEST_F(ScreenSlot, an_element_that_nobody_wrote_is_seen) {
  for (const std::size_t slot : {0, 1}) {
    const std::uint16_t poison = layout_.fill.region[3].pattern[slot];
    for (int k = 8; k < 12; ++k)
      at(1, k, slot) = static_cast<std::byte>(k % 2 == 0 ? poison & 0xff : poison >> 8);
  }
  EXPECT_EQ(judged().flags, memory_flag::unwritten | memory_flag::world);
  EXPECT_EQ(programs_->records[1].flags, memory_flag::unwritten);
}

TEST_F(ScreenSlot, so_is_either_half_of_a_word) {
  const auto* region = std::ranges::find(layout_.fill.region, layout_.tensors[4], &FillRegion::begin);
  for (const std::int64_t element : {0, 1, 2, 3, 4}) {
    const std::uint16_t written = 0x1111, poison = region->pattern[0];
    std::memcpy(&at(4, 2 * element), &poison, sizeof poison);
    std::ranges::fill(programs_->records, MemoryRecord{});
    programs_->sum_before();
    EXPECT_EQ(judged().flags, memory_flag::unwritten | memory_flag::world) << element;
    std::memcpy(&at(4, 2 * element), &written, sizeof written);
  }
}

TEST_F(ScreenSlot, outputs_that_depend_on_the_world_are_seen_single_bytes_too) {
  at(2, 6, 1) = std::byte{0x12};
  EXPECT_EQ(judged().flags, memory_flag::world);
  at(2, 6, 1) = std::byte{0x11};
  at(3, 5, 1) = std::byte{1}; // of the output that starts at 0
  programs_->records[0].flags = 0;
  programs_->sum_before();
  EXPECT_EQ(judged().flags, memory_flag::world);
}

// Only a case's own record is read.
TEST_F(ScreenSlot, what_became_of_the_twins_memory_is_told_of_the_case) {
  at(1, 20, 1) = std::byte{0};
  at(0, 0, 1) ^= std::byte{4};
  EXPECT_EQ(judged().flags, memory_flag::band | memory_flag::twin_input);
  EXPECT_EQ(programs_->records[0].input_sum, 0u);
}

} // namespace
} // namespace assay
