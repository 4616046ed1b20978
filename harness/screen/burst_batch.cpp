#include "harness/screen/burst_batch.h"

#include "harness/base/check.h"

#include <algorithm>
#include <cstring>

namespace assay {

namespace {

using Area = BatchArgument::Area;
using Over = BatchStep::Over;

constexpr std::uint64_t threads = most_fill_threads; // of the blocks that fill and look after memory
constexpr std::uint64_t most_parts = 64;             // blocks that share a slot
constexpr std::uint64_t quads_a_thread = 4, blocks_a_thread = 4; // of 4 elements, of 16 bytes
constexpr std::uint64_t most_sort_parts = 16;

std::uint64_t round_up(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

BatchArgument common(std::uint64_t offset) { return {Area::common, offset}; }
BatchArgument value(std::uint64_t bits, std::uint8_t size) { return {Area::value, bits, size}; }
constexpr BatchArgument given{Area::given, 0}, slots{Area::slot, 0}, scratch{Area::scratch, 0},
    cases{Area::cases, 0, 4}, memory{Area::results, memory_results}, records{Area::results, judge_results};

BatchArgument argument_of(const PlannedArgument& planned, const SlotLayout& layout) {
  if (const auto* tensor = std::get_if<TensorArgument>(&planned))
    return {Area::slot, layout.tensors[tensor->index]};
  if (const auto* own = std::get_if<ScratchArgument>(&planned))
    return {Area::slot, layout.scratch[own->index]};
  const Scalar& scalar = std::get<Scalar>(planned);
  return value(scalar.bits, scalar.size);
}

class Composer {
 public:
  void add(std::string name, BatchStep step) {
    result.batch.steps.push_back(std::move(step));
    result.step_names.push_back(std::move(name));
  }
  BurstBatch result;
};

} // namespace

BurstBatch burst_batch(const Plan& plan, const SlotLayout& layout, const screen::CasePlan& case_plan,
                       const BurstPrograms& programs, std::uint64_t wave_bytes, const WaveCases& wave_cases) {
  Composer composer;
  Batch& batch = composer.result.batch;
  const std::uint64_t judge_plan = round_up(sizeof(FillPlan));
  batch.common.resize(judge_plan + sizeof(screen::CasePlan));
  std::memcpy(batch.common.data(), &layout.fill, sizeof(FillPlan));
  std::memcpy(batch.common.data() + judge_plan, &case_plan, sizeof(screen::CasePlan));
  batch.given_bytes = static_cast<std::size_t>(layout.fill.tensors) * sizeof(FillInput);
  batch.slot_bytes = layout.bytes;
  batch.result_bytes = {sizeof(MemoryRecord), sizeof(screen::Record)};

  // A case takes a slot, the sixteenth of its twin's, and a block's scratch while there are fewer cases than
  // blocks that gain anything.
  const JudgeNeeds needs = judge_needs(case_plan);
  const std::uint64_t slot = layout.bytes + (layout.bytes + twins_one_in - 1) / twins_one_in;
  std::uint64_t count = std::max<std::uint64_t>(wave_bytes / (slot + needs.scratch_bytes), 1);
  if (count > needs.most_blocks)
    count = std::max<std::uint64_t>(
        (wave_bytes - std::min(wave_bytes, needs.most_blocks * needs.scratch_bytes)) / slot,
        needs.most_blocks);
  const bool large = needs.threads == screen::most_judge_threads;
  batch.wave_cases =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(count, large ? wave_cases.large : wave_cases.usual));
  batch.wave_twins = (batch.wave_cases + twins_one_in - 1) / twins_one_in;
  const std::uint32_t blocks = std::min(batch.wave_cases, needs.most_blocks);
  batch.scratch_bytes = blocks * needs.scratch_bytes;

  std::int64_t elements = 1, lines = 1;
  for (int t = 0; t < layout.fill.tensors; ++t) {
    elements = std::max(elements, layout.fill.tensor[t].count);
    lines = std::max(lines, layout.fill.tensor[t].lines);
  }
  const auto parts = [](std::uint64_t work, std::uint64_t a_part, std::uint64_t most) {
    return std::clamp<std::uint64_t>((work + a_part - 1) / a_part, 1, most);
  };
  const Dim3 filling{1, parts(static_cast<std::uint64_t>(elements), 4 * quads_a_thread * threads, most_parts),
                     1};
  const Dim3 settling{1, parts(static_cast<std::uint64_t>(lines), threads / 32, most_sort_parts), 1};
  const Dim3 reading{1, parts(layout.bytes, 16 * blocks_a_thread * threads, most_parts), 1};
  const Dim3 block{threads, 1, 1};
  const BatchArgument fill_plan = common(0), stride = value(layout.bytes, 8);
  const auto step = [&](const char* name, const char* entry, Over over, const Dim3& grid, std::size_t shared,
                        std::vector<BatchArgument> args) {
    composer.add(name, {over, programs.fill, entry, grid, block, shared, std::move(args)});
  };
  step("clear", "assay_clear", Over::slots, reading, 0, {fill_plan, slots, stride, cases, memory});
  step("fill", "assay_fill", Over::slots, filling, 0, {fill_plan, given, slots, stride, cases});
  step("settle", "assay_settle", Over::slots, settling, layout.sort_bytes,
       {fill_plan, given, slots, stride, cases});
  step("sum", "assay_sum", Over::slots, reading, 0, {fill_plan, slots, stride, memory, value(0, 4)});
  for (const PlannedLaunch& launch : plan.launches) {
    if (launch.grid.x == 0 || launch.grid.y == 0 || launch.grid.z == 0) continue;
    BatchStep target{Over::each, plan.program, launch.entry, launch.grid, launch.block, launch.shared_bytes,
                     {}};
    for (const PlannedArgument& argument : launch.args) target.args.push_back(argument_of(argument, layout));
    composer.add("target " + launch.name, std::move(target));
  }
  step("sum again", "assay_sum", Over::slots, reading, 0, {fill_plan, slots, stride, memory, value(1, 4)});
  step("check", "assay_check", Over::slots, reading, 0, {fill_plan, slots, stride, cases, memory});
  step("compare", "assay_compare", Over::twins, reading, 0, {fill_plan, slots, stride, cases, memory});
  composer.add("judge",
               {Over::blocks,
                programs.judge,
                screen::judge_entry,
                {blocks, 1, 1},
                {needs.threads, 1, 1},
                0,
                {common(judge_plan), slots, stride, cases, scratch, value(needs.scratch_bytes, 8), records}});
  return std::move(composer.result);
}

} // namespace assay
