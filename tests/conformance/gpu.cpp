#include "tests/conformance/gpu.h"

#include <algorithm>

namespace assay::conformance {

#define ASSAY_CU(call)                                                                                       \
  if (const int status = (call); status != 0)                                                                \
  return environment_error({}, "{}: {}", #call, cuda::error_text(*driver_, status))

Gpu::Gpu(const cuda::Driver& driver) : driver_(&driver) {}
Gpu::~Gpu() {
  free_all();
  if (module_ != nullptr) driver_->unload_module(module_);
}

Result<std::unique_ptr<Gpu>> Gpu::open() {
  ASSAY_TRY(const cuda::Driver* driver_, cuda::load_driver());
  std::unique_ptr<Gpu> gpu(new Gpu(*driver_));
  void* context = nullptr;
  ASSAY_CU(driver_->init(0));
  ASSAY_CU(driver_->device(&gpu->ordinal_, 0));
  ASSAY_CU(driver_->retain_context(&context, gpu->ordinal_));
  ASSAY_CU(driver_->set_context(context));
  return gpu;
}

std::string Gpu::name() const {
  char text[256] = {};
  driver_->device_name(text, sizeof text, ordinal_);
  return text;
}

std::string Gpu::driver() const {
  int number = 0;
  driver_->version(&number);
  return fmt::format("CUDA {}.{}", number / 1000, number % 1000 / 10);
}

Result<void> Gpu::load(const std::string& ptx) {
  if (module_ != nullptr) driver_->unload_module(module_);
  module_ = nullptr;
  std::vector<char> log(8192);
  int options[] = {cuda::jit::error_log, cuda::jit::error_log_bytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  if (const int status = driver_->load_module(&module_, ptx.c_str(), 2, options, values); status != 0) {
    module_ = nullptr;
    return environment_error({}, "the driver does not compile the PTX: {}: {}",
                             cuda::error_text(*driver_, status), log.data());
  }
  return {};
}

Result<Gpu::Address> Gpu::upload(std::span<const std::byte> bytes) {
  Address address = 0;
  ASSAY_CU(driver_->allocate(&address, std::max<std::size_t>(bytes.size(), 16)));
  memory_.push_back(address);
  if (!bytes.empty()) ASSAY_CU(driver_->to_device(address, bytes.data(), bytes.size()));
  return address;
}

Result<void> Gpu::download(Address from, std::span<std::byte> bytes) {
  if (!bytes.empty()) ASSAY_CU(driver_->to_host(bytes.data(), from, bytes.size()));
  return {};
}

void Gpu::free_all() {
  for (const Address address : memory_) driver_->release(address);
  memory_.clear();
}

Result<void> Gpu::launch(const std::string& entry, const std::array<std::uint64_t, 3>& grid,
                         const std::array<std::uint64_t, 3>& block, std::uint64_t shared_bytes,
                         std::span<const Argument> args) {
  void* function = nullptr;
  ASSAY_CU(driver_->function(&function, module_, entry.c_str()));
  if (shared_bytes > 48 * 1024)
    ASSAY_CU(driver_->set_function_attribute(function, cuda::function_attribute::max_dynamic_shared,
                                             static_cast<int>(shared_bytes)));
  std::vector<Argument> values(args.begin(), args.end());
  std::vector<void*> pointers;
  for (Argument& value : values) pointers.push_back(&value.bits);
  const auto u = [](std::uint64_t n) { return static_cast<unsigned>(n); };
  ASSAY_CU(driver_->launch(function, u(grid[0]), u(grid[1]), u(grid[2]), u(block[0]), u(block[1]),
                           u(block[2]), u(shared_bytes), nullptr, pointers.data(), nullptr));
  ASSAY_CU(driver_->synchronize());
  return {};
}

} // namespace assay::conformance
