#include "harness/device/cuda/timing.h"

#include <chrono>
#include <cstddef>

namespace assay::cuda {

namespace {

constexpr int warm_up = 3; // runs that are not counted
constexpr std::chrono::seconds enough{1};
// Larger than every cache of a GPU. The H200's second level holds 50 MiB.
constexpr std::size_t flushed = std::size_t{256} << 20, copied = std::size_t{512} << 20,
                      smallest = std::size_t{64} << 20;
constexpr int copies = 10;

constexpr Status out_of_memory = 2;

// As much of the GPU's memory as was asked for, or a half or a quarter of it.
class DeviceMemory {
 public:
  explicit DeviceMemory(const Driver& driver) : driver_(driver) {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    if (address_ != 0) driver_.release(address_);
  }
  Status allocate(std::size_t bytes) {
    Status status = out_of_memory;
    for (bytes_ = bytes; status == out_of_memory && bytes_ >= smallest; bytes_ /= 2)
      if (status = driver_.allocate(&address_, bytes_); status == success) return success;
    address_ = 0;
    return status;
  }
  Address address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

 private:
  const Driver& driver_;
  Address address_ = 0;
  std::size_t bytes_ = 0;
};

Reply failed(const Driver& driver, Stage stage, Status status) {
  return {status == out_of_memory ? Stage::memory : stage, status, error_text(driver, status)};
}

// A pair of events around what is queued between them.
class Stopwatch {
 public:
  explicit Stopwatch(const Driver& driver)
      : driver_(driver), begin_(driver.event_destroy), end_(driver.event_destroy) {}

  Status open() {
    const Status status = driver_.event_create(begin_.out(), 0);
    return status == success ? driver_.event_create(end_.out(), 0) : status;
  }
  Status start() { return driver_.event_record(begin_.get(), nullptr); }
  Status stop() { return driver_.event_record(end_.get(), nullptr); }
  // Once the GPU is done.
  Status read(double& seconds) {
    float milliseconds = 0;
    const Status status = driver_.event_elapsed(&milliseconds, begin_.get(), end_.get());
    seconds = static_cast<double>(milliseconds) / 1000;
    return status;
  }

 private:
  const Driver& driver_;
  Handle begin_, end_;
};

} // namespace

Reply time_work(const Driver& driver, const Work& work, int repeats, std::vector<double>& seconds) {
  DeviceMemory flush(driver);
  Stopwatch watch(driver);
  Status status = flush.allocate(flushed);
  if (status == success) status = watch.open();
  if (status != success) return failed(driver, Stage::transfer, status);
  const auto deadline = std::chrono::steady_clock::now() + enough;
  for (int i = -warm_up; i < repeats; ++i) {
    status = driver.queue_fill(flush.address(), 0, flush.bytes(), nullptr);
    if (status == success) status = queue_clears(driver, work, nullptr);
    if (status == success) status = watch.start();
    if (status != success) return failed(driver, Stage::transfer, status);
    if (status = queue_launches(driver, work, nullptr); status != success)
      return failed(driver, Stage::launch, status);
    status = watch.stop();
    if (status == success) status = driver.synchronize();
    double taken = 0;
    if (status == success) status = watch.read(taken);
    if (status != success) return failed(driver, Stage::run, status);
    const bool late = std::chrono::steady_clock::now() > deadline;
    if (i >= 0 || late) seconds.push_back(taken);
    if (late) break;
  }
  return {};
}

Reply time_copy(const Driver& driver, double& bytes_per_second) {
  DeviceMemory both(driver); // one half of it is copied to the other
  Stopwatch watch(driver);
  Status status = both.allocate(2 * copied);
  if (status == success) status = watch.open();
  if (status != success) return failed(driver, Stage::transfer, status);
  const std::size_t bytes = both.bytes() / 2;
  double best = 0;
  for (int i = -warm_up; i < copies; ++i) {
    status = watch.start();
    if (status == success) status = driver.queue_copy(both.address() + bytes, both.address(), bytes, nullptr);
    if (status == success) status = watch.stop();
    if (status == success) status = driver.synchronize();
    double taken = 0;
    if (status == success) status = watch.read(taken);
    if (status != success) return failed(driver, Stage::transfer, status);
    if (i >= 0 && (best == 0 || taken < best)) best = taken;
  }
  bytes_per_second = best > 0 ? 2 * static_cast<double>(bytes) / best : 0;
  return {};
}

} // namespace assay::cuda
