#include "tests/conformance/recording_device.h"

#include <numeric>

namespace assay::conformance {

std::optional<LaunchCase> RecordingDevice::recorded() const {
  if (!dense_ || case_.launches.empty()) return std::nullopt;
  std::vector<std::int64_t> place(case_.buffers.size(), -1); // of the buffers that a launch takes
  LaunchCase result;
  result.launches = case_.launches;
  for (RecordedLaunch& launch : result.launches)
    for (auto& arg : launch.args) {
      if (arg.buffer < 0) continue;
      const auto at = static_cast<std::size_t>(arg.buffer);
      if (place[at] < 0) {
        place[at] = static_cast<std::int64_t>(result.buffers.size());
        result.buffers.push_back(case_.buffers[at]);
      }
      arg.buffer = place[at];
    }
  return result;
}

Result<std::shared_ptr<Program>> RecordingDevice::load(const PtxSource& source) {
  ptx_ = source.text;
  return inner_.load(source);
}

Result<BufferId> RecordingDevice::allocate(const BufferSpec& spec, std::span<const std::byte> dense) {
  ASSAY_TRY(const BufferId id, inner_.allocate(spec, dense));
  RecordedBuffer buffer;
  buffer.name = spec.name;
  buffer.role = spec.role;
  buffer.dtype = spec.dtype;
  buffer.count = std::accumulate(spec.shape.begin(), spec.shape.end(), std::int64_t{1}, std::multiplies<>());
  buffer.initialized = spec.initialized;
  buffer.before.assign(dense.begin(), dense.end());
  std::int64_t stride = 1; // strides that say the same as none
  for (std::size_t k = spec.strides.size(); k-- > 0; stride *= spec.shape[k])
    dense_ = dense_ && (spec.strides[k] == stride || spec.shape[k] <= 1);
  dense_ = dense_ && spec.offset == 0;
  index_[id] = static_cast<std::int64_t>(case_.buffers.size());
  case_.buffers.push_back(std::move(buffer));
  return id;
}

void RecordingDevice::fill_zero(BufferId buffer) {
  inner_.fill_zero(buffer);
  RecordedBuffer& recorded = case_.buffers[static_cast<std::size_t>(index_[buffer])];
  recorded.initialized = true;
  recorded.before.assign(static_cast<std::size_t>(recorded.count) * size_of(recorded.dtype), std::byte{0});
}

void RecordingDevice::release_all() {
  inner_.release_all();
  case_ = {};
  index_.clear();
  dense_ = true;
}

Result<LaunchReport> RecordingDevice::launch(Program& program, const LaunchSpec& spec) {
  RecordedLaunch launch;
  launch.entry = spec.entry;
  launch.grid = {spec.grid.x, spec.grid.y, spec.grid.z};
  launch.block = {spec.block.x, spec.block.y, spec.block.z};
  launch.shared_bytes = spec.shared_bytes;
  for (const Argument& argument : spec.args) {
    RecordedLaunch::Value value;
    if (const auto* buffer = std::get_if<BufferId>(&argument))
      value.buffer = index_[*buffer];
    else
      value.number = std::get<Scalar>(argument);
    launch.args.push_back(value);
  }
  case_.launches.push_back(std::move(launch));
  return inner_.launch(program, spec);
}

} // namespace assay::conformance
