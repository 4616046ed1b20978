#include "harness/device/cpu/runtime/limits.h"

#include <fmt/format.h>

namespace assay::cpu {
namespace {

std::uint64_t dim(const Dim3& dims, int axis) { return axis == 0 ? dims.x : axis == 1 ? dims.y : dims.z; }

std::optional<std::string> broken_argument(const CompiledEntry& entry, const LaunchSpec& spec) {
  const std::vector<std::uint32_t>& sizes = entry.info.param_bytes;
  if (sizes.size() != spec.args.size())
    return fmt::format("{} takes {} parameters, the launch gives {}", entry.info.name, sizes.size(),
                       spec.args.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto* scalar = std::get_if<Scalar>(&spec.args[i]);
    const std::uint32_t given = scalar ? scalar->size : 8;
    if (given != sizes[i])
      return fmt::format("parameter {} of {} has {} bytes, the launch gives {} ({})", i, entry.info.name,
                         sizes[i], given, scalar ? "a scalar" : "a pointer");
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> broken_limit(const CompiledEntry& entry, const LaunchSpec& spec) {
  static constexpr char axis_name[3] = {'x', 'y', 'z'};
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint64_t grid = dim(spec.grid, axis), block = dim(spec.block, axis);
    if (grid == 0 || grid > max_grid_dim[axis])
      return fmt::format("grid dimension {} is {} (1 to {})", axis_name[axis], grid, max_grid_dim[axis]);
    if (block == 0 || block > max_block_dim[axis])
      return fmt::format("block dimension {} is {} (1 to {})", axis_name[axis], block, max_block_dim[axis]);
    const std::uint32_t required = entry.info.required_block[static_cast<std::size_t>(axis)];
    if (required && block != required)
      return fmt::format("block dimension {} is {}, but {} requires {} (.reqntid)", axis_name[axis], block,
                         entry.info.name, required);
  }
  const std::uint64_t threads = spec.block.x * spec.block.y * spec.block.z;
  if (threads > max_block_threads)
    return fmt::format("a block of {} threads (at most {})", threads, max_block_threads);
  if (entry.info.max_block_threads && threads > entry.info.max_block_threads)
    return fmt::format("a block of {} threads, but {} is bounded to {} (.maxntid)", threads, entry.info.name,
                       entry.info.max_block_threads);
  if (entry.info.static_shared_bytes > max_static_shared)
    return fmt::format("{} bytes of static shared memory (at most {})", entry.info.static_shared_bytes,
                       max_static_shared);
  if (spec.shared_bytes > max_shared || entry.info.static_shared_bytes + spec.shared_bytes > max_shared)
    return fmt::format("{} bytes of static and {} of dynamic shared memory (together at most {})",
                       entry.info.static_shared_bytes, spec.shared_bytes, max_shared);
  return broken_argument(entry, spec);
}

} // namespace assay::cpu
