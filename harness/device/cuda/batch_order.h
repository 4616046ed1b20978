// A batch (harness/device/batch.h) as the process that drives the GPU is told of it, and where its memory
// lies. Both sides of the socket know it.
#pragma once

#include "harness/device/batch.h"
#include "harness/device/cuda/batch_tuning.h"
#include "harness/device/cuda/message.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::cuda {

inline constexpr std::size_t batch_alignment = 256;
// Of the GPU, for all lanes of a batch together.
inline constexpr std::size_t batch_memory = std::size_t{13} << 30;

struct OrderedStep {
  BatchStep::Over over = BatchStep::Over::each;
  std::uint32_t module = 0, function = 0; // as of GpuLaunch, in the first world
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t shared_bytes = 0;
  std::vector<BatchArgument> args;

  void put(Writer& out) const;
  static OrderedStep take(Reader& in);
};

struct BatchOrder {
  std::size_t common_bytes = 0, given_bytes = 0, slot_bytes = 0, scratch_bytes = 0;
  std::vector<std::size_t> result_bytes;
  std::uint32_t wave_cases = 1, wave_twins = 0;
  std::vector<OrderedStep> steps;
  BatchTuning tuning;

  std::size_t wave_slots() const { return std::size_t{wave_cases} + wave_twins; }
  void put(Writer& out) const;
  static BatchOrder take(Reader& in);
};

// Bytes from the start of a lane's memory.
struct LaneLayout {
  std::size_t given = 0, slots = 0, scratch = 0;
  std::vector<std::size_t> results; // of each array; they stand side by side, from the first to `bytes`
  std::size_t bytes = 0;            // of a lane; more than batch_memory where it would be
};
LaneLayout lane_layout(const BatchOrder& order);

// Bytes from the start of the memory that both processes map, for as many cases.
struct StagingLayout {
  std::vector<std::size_t> results; // of each array; what is given stands before them
  std::size_t bytes = 0;            // more than staging_capacity where it would be
};
StagingLayout staging_layout(const BatchOrder& order, std::size_t cases);

} // namespace assay::cuda
