#include "harness/device/cuda/graph.h"

namespace assay::cuda {

Reply replay_twice(const Driver& driver, const Work& work, std::size_t bytes,
                   std::array<std::byte*, 2> left) {
  const auto failed = [&](Stage stage, Status status) {
    return Reply{stage, status, error_text(driver, status)};
  };
  Handle stream(driver.stream_destroy), graph(driver.destroy_graph), executable(driver.destroy_executable);
  Status status = driver.synchronize(); // the arena is there
  if (status == success) status = driver.stream_create(stream.out(), stream_does_not_wait);
  if (status == success) status = driver.begin_capture(stream.get(), capture_of_this_thread);
  if (status != success) return failed(Stage::transfer, status);
  status = queue_clears(driver, work, stream.get());
  if (status == success) status = queue_launches(driver, work, stream.get());
  const Status ended = driver.end_capture(stream.get(), graph.out()); // whatever came before
  if (status == success) status = ended;
  if (status == success) status = driver.instantiate(executable.out(), graph.get(), 0);
  if (status != success) return failed(Stage::launch, status);
  for (std::byte* const to : left) {
    status = driver.launch_graph(executable.get(), stream.get());
    if (status == success) status = driver.stream_synchronize(stream.get());
    if (status == success) status = driver.to_host(to, work.arena, bytes);
    if (status != success) return failed(Stage::run, status);
  }
  return {};
}

} // namespace assay::cuda
