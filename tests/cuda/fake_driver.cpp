#include "tests/cuda/fake_driver.h"

#include "tests/cuda/fake_state.h"

#include <cstring>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace assay::testing {

namespace fake {

std::map<std::string, Kernel>& kernels() {
  static std::map<std::string, Kernel> all;
  return all;
}

State& state() {
  static State s;
  return s;
}

namespace {

Status init(unsigned) {
  ++fake_counts().starts;
  return 0;
}
Status version(int* v) {
  *v = 13000;
  return 0;
}
Status device_count(int* n) {
  *n = fake_gpu().devices;
  return 0;
}
Status device(int* d, int ordinal) {
  *d = ordinal;
  return 0;
}
Status device_name(char* text, int size, int) {
  std::strncpy(text, "Fake GPU", static_cast<std::size_t>(size));
  return 0;
}
Status device_attribute(int* value, int what, int) {
  static const std::map<int, int> values = {{1, 1024},       {2, 1024},  {3, 1024},   {4, 64},
                                            {5, 2147483647}, {6, 65535}, {7, 65535},  {16, 4},
                                            {75, 9},         {76, 0},    {97, 232448}};
  *value = values.at(what);
  return 0;
}
Status retain_context(void** context, int device) {
  state().device = device;
  *context = &state();
  return 0;
}
Status set_context(void*) { return 0; }
Status error_name(Status status, const char** text) {
  static const std::map<Status, const char*> names = {{1, "CUDA_ERROR_INVALID_VALUE"},
                                                      {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                      {218, "CUDA_ERROR_INVALID_PTX"},
                                                      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                      {710, "CUDA_ERROR_ASSERT"},
                                                      {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
                                                      {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
                                                      {719, "CUDA_ERROR_LAUNCH_FAILED"},
                                                      {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}};
  const auto found = names.find(status);
  if (found == names.end()) return invalid_value;
  *text = found->second;
  return 0;
}
Status error_text(Status, const char**) { return invalid_value; }

} // namespace
} // namespace fake

FakeGpu& fake_gpu() {
  static FakeGpu gpu;
  return gpu;
}

FakeCounts& fake_counts() {
  static auto* counts =
      new (::mmap(nullptr, sizeof(FakeCounts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
          FakeCounts;
  return *counts;
}

void reset_fake_gpu() {
  fake_gpu() = {};
  fake::kernels().clear();
  FakeCounts& counts = fake_counts();
  counts.allocated = 0;
  counts.starts = counts.compiled = counts.loaded = counts.launched = counts.graphs = 0;
  counts.instantiated = counts.replaced = 0;
}

void add_fake_kernel(const std::string& name, std::vector<std::uint32_t> param_bytes, FakeGpuKernel kernel) {
  fake::kernels()[name] = {std::move(param_bytes), std::move(kernel)};
}

std::string fake_ptx(const std::vector<std::string>& names, const std::string& more) {
  std::string text = more + "\n";
  for (const std::string& name : names) text += ".visible .entry " + name + "()\n{\n\tret;\n}\n";
  return text;
}

const cuda::Driver& fake_driver() {
  static const cuda::Driver driver = [] {
    cuda::Driver made;
    made.init = fake::init;
    made.version = fake::version;
    made.device_count = fake::device_count;
    made.device = fake::device;
    made.device_name = fake::device_name;
    made.device_attribute = fake::device_attribute;
    made.retain_context = fake::retain_context;
    made.set_context = fake::set_context;
    made.error_name = fake::error_name;
    made.error_text = fake::error_text;
    fake::add_modules(made);
    fake::add_memory(made);
    fake::add_streams(made);
    return made;
  }();
  return driver;
}

} // namespace assay::testing
