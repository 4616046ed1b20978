// The little of a GPU that the recordings need, in this process and with nothing between: what the CUDA
// device is held against too.
#pragma once

#include "harness/base/error.h"
#include "harness/device/cuda/driver.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::conformance {

class Gpu {
 public:
  using Address = cuda::Address;
  struct Argument {
    std::uint64_t bits = 0; // an address or a number
  };

  static Result<std::unique_ptr<Gpu>> open(); // environment error: no driver, no GPU
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  std::string name() const;
  std::string driver() const; // "CUDA 13.0"

  // Compiles with the driver's own compiler and takes the place of the module before.
  Result<void> load(const std::string& ptx);
  Result<Address> upload(std::span<const std::byte> bytes);
  Result<void> download(Address from, std::span<std::byte> bytes);
  void free_all();
  // Waits for its end.
  Result<void> launch(const std::string& entry, const std::array<std::uint64_t, 3>& grid,
                      const std::array<std::uint64_t, 3>& block, std::uint64_t shared_bytes,
                      std::span<const Argument> args);

 private:
  explicit Gpu(const cuda::Driver& driver);
  const cuda::Driver* driver_;
  void* module_ = nullptr;
  int ordinal_ = 0;
  std::vector<Address> memory_;
};

} // namespace assay::conformance
