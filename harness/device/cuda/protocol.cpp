#include "harness/device/cuda/protocol.h"

#include <sys/mman.h>

namespace assay::cuda {

namespace {
constexpr std::size_t shared_bytes_total = 2 * world_capacity + blob_capacity + staging_capacity;
}

SharedMemory::SharedMemory() {
  void* memory = ::mmap(nullptr, shared_bytes_total, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) base_ = static_cast<std::byte*>(memory);
}

SharedMemory::~SharedMemory() {
  if (base_ != nullptr) ::munmap(base_, shared_bytes_total);
}

void Reply::put(Writer& out) const {
  out.put(stage);
  out.put(status);
  out.put_text(text);
}

Reply Reply::take(Reader& in) {
  Reply reply;
  reply.stage = in.take<Stage>();
  reply.status = in.take<Status>();
  reply.text = in.take_text();
  return reply;
}

void GpuLaunch::put(Writer& out) const {
  out.put(module);
  out.put(function);
  out.put(grid);
  out.put(block);
  out.put(shared_bytes);
  out.put_all(parameters);
}

GpuLaunch GpuLaunch::take(Reader& in) {
  GpuLaunch launch;
  launch.module = in.take<std::uint32_t>();
  launch.function = in.take<std::uint32_t>();
  launch.grid = in.take<std::array<std::uint32_t, 3>>();
  launch.block = in.take<std::array<std::uint32_t, 3>>();
  launch.shared_bytes = in.take<std::uint32_t>();
  launch.parameters = in.take_all<Parameter>();
  return launch;
}

void WorldRun::put(Writer& out) const {
  out.put(world);
  out.put(dirt);
  out.put(upload);
  out.put(launches.size());
  for (const GpuLaunch& launch : launches) launch.put(out);
}

WorldRun WorldRun::take(Reader& in) {
  WorldRun run;
  run.world = in.take<std::uint32_t>();
  run.dirt = in.take<std::uint32_t>();
  run.upload = in.take<bool>();
  const auto count = in.take<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) run.launches.push_back(GpuLaunch::take(in));
  return run;
}

void WorkRequest::put(Writer& out) const {
  run.put(out);
  out.put(arena_bytes);
  out.put_all(clears);
  out.put(repeats);
}

WorkRequest WorkRequest::take(Reader& in) {
  WorkRequest request;
  request.run = WorldRun::take(in);
  request.arena_bytes = in.take<std::size_t>();
  request.clears = in.take_all<Clear>();
  request.repeats = in.take<int>();
  return request;
}

} // namespace assay::cuda
