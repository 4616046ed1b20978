#include "tests/conformance/gpu.h"

#include <algorithm>
#include <dlfcn.h>

namespace assay::conformance {

// Names and types as CUDA's driver API has them.
struct Gpu::Driver {
  using Status = int;
  Status (*init)(unsigned) = nullptr;
  Status (*version)(int*) = nullptr;
  Status (*device)(int*, int) = nullptr;
  Status (*device_name)(char*, int, int) = nullptr;
  Status (*retain)(void**, int) = nullptr;
  Status (*set_current)(void*) = nullptr;
  Status (*error_name)(Status, const char**) = nullptr;
  Status (*load)(void**, const void*, unsigned, int*, void**) = nullptr;
  Status (*unload)(void*) = nullptr;
  Status (*function)(void**, void*, const char*) = nullptr;
  Status (*attribute)(void*, int, int) = nullptr;
  Status (*allocate)(Address*, std::size_t) = nullptr;
  Status (*release)(Address) = nullptr;
  Status (*to_device)(Address, const void*, std::size_t) = nullptr;
  Status (*to_host)(void*, Address, std::size_t) = nullptr;
  Status (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**) = nullptr;
  Status (*synchronize)() = nullptr;

  void* library = nullptr;
  void* module = nullptr;
  int ordinal = 0;

  std::string name_of(Status status) const {
    const char* text = nullptr;
    error_name(status, &text);
    return text ? text : fmt::format("error {}", status);
  }
};

namespace {
template <class F> bool find(void* library, F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}
} // namespace

#define ASSAY_CU(call)                                                                                       \
  if (const int status = (call); status != 0)                                                                \
  return environment_error({}, "{}: {}", #call, driver_->name_of(status))

Gpu::Gpu(std::unique_ptr<Driver> driver) : driver_(std::move(driver)) {}
Gpu::~Gpu() {
  free_all();
  if (driver_->module) driver_->unload(driver_->module);
}

Result<std::unique_ptr<Gpu>> Gpu::open() {
  auto d = std::make_unique<Driver>();
  d->library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!d->library) return environment_error({}, "no CUDA driver on this machine (libcuda.so.1)");
  void* l = d->library;
  const bool complete = find(l, d->init, "cuInit") && find(l, d->version, "cuDriverGetVersion") &&
                        find(l, d->device, "cuDeviceGet") && find(l, d->device_name, "cuDeviceGetName") &&
                        find(l, d->retain, "cuDevicePrimaryCtxRetain") &&
                        find(l, d->set_current, "cuCtxSetCurrent") &&
                        find(l, d->error_name, "cuGetErrorName") && find(l, d->load, "cuModuleLoadDataEx") &&
                        find(l, d->unload, "cuModuleUnload") && find(l, d->function, "cuModuleGetFunction") &&
                        find(l, d->attribute, "cuFuncSetAttribute") &&
                        find(l, d->allocate, "cuMemAlloc_v2") && find(l, d->release, "cuMemFree_v2") &&
                        find(l, d->to_device, "cuMemcpyHtoD_v2") && find(l, d->to_host, "cuMemcpyDtoH_v2") &&
                        find(l, d->launch, "cuLaunchKernel") && find(l, d->synchronize, "cuCtxSynchronize");
  if (!complete) return environment_error({}, "libcuda.so.1 lacks functions of CUDA 12");
  std::unique_ptr<Gpu> gpu(new Gpu(std::move(d)));
  Driver* driver_ = gpu->driver_.get();
  void* context = nullptr;
  ASSAY_CU(driver_->init(0));
  ASSAY_CU(driver_->device(&driver_->ordinal, 0));
  ASSAY_CU(driver_->retain(&context, driver_->ordinal));
  ASSAY_CU(driver_->set_current(context));
  return gpu;
}

std::string Gpu::name() const {
  char text[256] = {};
  driver_->device_name(text, sizeof text, driver_->ordinal);
  return text;
}

std::string Gpu::driver() const {
  int number = 0;
  driver_->version(&number);
  return fmt::format("CUDA {}.{}", number / 1000, number % 1000 / 10);
}

Result<void> Gpu::load(const std::string& ptx) {
  if (driver_->module) driver_->unload(driver_->module);
  driver_->module = nullptr;
  std::vector<char> log(8192);
  int options[] = {5, 6}; // CU_JIT_ERROR_LOG_BUFFER, its size
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  if (const int status = driver_->load(&driver_->module, ptx.c_str(), 2, options, values); status != 0) {
    driver_->module = nullptr;
    return environment_error({}, "the driver does not compile the PTX: {}: {}", driver_->name_of(status),
                             log.data());
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
  ASSAY_CU(driver_->function(&function, driver_->module, entry.c_str()));
  if (shared_bytes > 48 * 1024)
    ASSAY_CU(
        driver_->attribute(function, 8, static_cast<int>(shared_bytes))); // largest dynamic shared memory
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
