#include "harness/device/launch_limits.h"

#include <fmt/format.h>

namespace assay {
namespace {

std::uint64_t dim(const Dim3& dims, int axis) { return axis == 0 ? dims.x : axis == 1 ? dims.y : dims.z; }

std::optional<std::string> broken_argument(const EntryInfo& entry, const LaunchSpec& spec) {
  const std::vector<std::uint32_t>& sizes = entry.param_bytes;
  if (sizes.size() != spec.args.size())
    return fmt::format("{} takes {} parameters, the launch gives {}", entry.name, sizes.size(),
                       spec.args.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto* scalar = std::get_if<Scalar>(&spec.args[i]);
    const std::uint32_t given = scalar ? scalar->size : 8;
    if (given != sizes[i])
      return fmt::format("parameter {} of {} has {} bytes, the launch gives {} ({})", i, entry.name, sizes[i],
                         given, scalar ? "a scalar" : "a pointer");
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> broken_limit(const EntryInfo& entry, const LaunchSpec& spec,
                                        const LaunchLimits& limits) {
  static constexpr char axis_name[3] = {'x', 'y', 'z'};
  for (int axis = 0; axis < 3; ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    const std::uint64_t grid = dim(spec.grid, axis), block = dim(spec.block, axis);
    if (grid == 0 || grid > limits.grid[at])
      return fmt::format("grid dimension {} is {} (1 to {})", axis_name[axis], grid, limits.grid[at]);
    if (block == 0 || block > limits.block[at])
      return fmt::format("block dimension {} is {} (1 to {})", axis_name[axis], block, limits.block[at]);
    const std::uint32_t required = entry.required_block[at];
    if (required && block != required)
      return fmt::format("block dimension {} is {}, but {} requires {} (.reqntid)", axis_name[axis], block,
                         entry.name, required);
  }
  const std::uint64_t threads = spec.block.x * spec.block.y * spec.block.z;
  if (threads > limits.block_threads)
    return fmt::format("a block of {} threads (at most {})", threads, limits.block_threads);
  if (entry.max_block_threads && threads > entry.max_block_threads)
    return fmt::format("a block of {} threads, but {} is bounded to {} (.maxntid or registers)", threads,
                       entry.name, entry.max_block_threads);
  if (entry.static_shared_bytes > limits.static_shared)
    return fmt::format("{} bytes of static shared memory (at most {})", entry.static_shared_bytes,
                       limits.static_shared);
  if (spec.shared_bytes > limits.shared || entry.static_shared_bytes + spec.shared_bytes > limits.shared)
    return fmt::format("{} bytes of static and {} of dynamic shared memory (together at most {})",
                       entry.static_shared_bytes, spec.shared_bytes, limits.shared);
  return broken_argument(entry, spec);
}

} // namespace assay
