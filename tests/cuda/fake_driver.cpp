#include "tests/cuda/fake_driver.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace assay::testing {

namespace {

using cuda::Address;
using cuda::Status;

constexpr Status invalid_value = 1, out_of_memory = 2, invalid_ptx = 218, not_found = 500,
                 capture_unsupported = 900;

struct Kernel {
  std::vector<std::uint32_t> param_bytes;
  FakeGpuKernel run;
};
std::map<std::string, Kernel>& kernels() {
  static std::map<std::string, Kernel> all;
  return all;
}

// State of the process that drives the fake.
struct Module {
  std::string text;
  int variable = 0;
  std::array<std::uint8_t, 64> counters{};
  bool counts() const { return text.find("assay_blocks[") != std::string::npos; }
};
struct Function {
  Module* module = nullptr;
  std::string name;
};
// What was queued while a stream was captured, with copies of the parameters.
struct FakeGraph {
  std::vector<std::function<Status()>> nodes;
};
struct State {
  std::map<Address, std::size_t> allocated;
  std::size_t used = 0;
  int device = 0;
  std::uint32_t shared_word = 0;
  Status broken = 0;
  std::string linked;
  std::map<const std::byte*, std::size_t> pinned; // of host memory
  std::map<Function*, std::unique_ptr<Function>> functions;
  double clock = 0; // seconds
  FakeGraph* capturing = nullptr;
};
State& state() {
  static State s;
  return s;
}

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

char* link_log = nullptr;
Status link_create(unsigned, int*, void** values, void** link) {
  link_log = static_cast<char*>(values[0]);
  *link = &state().linked;
  return 0;
}
Status link_add(void*, int, void* text, std::size_t size, const char*, unsigned, int*, void**) {
  const std::string ptx(static_cast<const char*>(text), size - 1);
  if (!fake_gpu().refused_ptx.empty() && ptx == fake_gpu().refused_ptx) {
    std::strcpy(link_log, "ptxas application ptx input, line 7; fatal   : Parsing error near 'x'");
    return invalid_ptx;
  }
  state().linked = ptx;
  return 0;
}
Status link_complete(void*, void** cubin, std::size_t* size) {
  ++fake_counts().compiled;
  *cubin = state().linked.data();
  *size = state().linked.size() + 1;
  return 0;
}
Status link_destroy(void*) { return 0; }
Status load_module(void** module, const void* image, unsigned, int*, void**) {
  if (state().broken != 0) return state().broken;
  const std::string text(static_cast<const char*>(image));
  if (text.find("assay_dirty_shared") == std::string::npos) {
    ++fake_counts().loaded;
    if (fake_gpu().dies_at_load) ::_exit(3);
    if (text.find(".entry") == std::string::npos) return invalid_value;
  }
  *module = new Module{text};
  return 0;
}
Status unload_module(void* module) {
  delete static_cast<Module*>(module);
  return 0;
}
Status function(void** result, void* module, const char* name) {
  const bool known = kernels().contains(name) || std::string(name) == "assay_dirty_shared";
  if (!known) return not_found;
  auto made = std::make_unique<Function>(Function{static_cast<Module*>(module), name});
  *result = made.get();
  state().functions.emplace(made.get(), std::move(made));
  return 0;
}
Status function_attribute(int* value, int what, void*) {
  *value = what == 0 ? fake_gpu().max_threads.front() : 0;
  return 0;
}
Status set_function_attribute(void*, int, int) { return state().broken; }
Status parameter_info(void* function, std::size_t index, std::size_t* offset, std::size_t* size) {
  const auto found = kernels().find(static_cast<Function*>(function)->name);
  if (found == kernels().end() || index >= found->second.param_bytes.size()) return invalid_value;
  *offset = 8 * index;
  *size = found->second.param_bytes[index];
  return 0;
}
Status variable(Address* address, std::size_t* bytes, void* module, const char*) {
  auto* of = static_cast<Module*>(module);
  const std::size_t at = of->text.find("assay_blocks[");
  if (at == std::string::npos) return not_found;
  *bytes = std::stoul(of->text.substr(at + 13));
  *address = reinterpret_cast<Address>(of->counters.data());
  return 0;
}
Status fill(Address to, unsigned char value, std::size_t bytes) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return 0;
}
Status pin(void* memory, std::size_t bytes, unsigned) {
  state().pinned[static_cast<const std::byte*>(memory)] = bytes;
  return 0;
}
Status unpin(void* memory) {
  return state().pinned.erase(static_cast<const std::byte*>(memory)) == 1 ? 0 : invalid_value;
}
// CUDA refuses a copy that begins in pinned memory and ends outside it.
bool leaves_pinned(const void* memory, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(memory);
  for (const auto& [start, size] : state().pinned)
    if (from >= start && from < start + size && from + bytes > start + size) return true;
  return false;
}
Status allocate(Address* address, std::size_t bytes) {
  if (state().used + bytes > fake_gpu().memory) return out_of_memory;
  *address = reinterpret_cast<Address>(std::aligned_alloc(512, bytes));
  state().allocated[*address] = bytes;
  state().used += bytes;
  return 0;
}
Status release(Address address) {
  state().used -= state().allocated.at(address);
  state().allocated.erase(address);
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
Status to_device(Address to, const void* from, std::size_t bytes) {
  if (state().broken != 0) return state().broken;
  if (leaves_pinned(from, bytes)) return invalid_value;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
Status to_host(void* to, Address from, std::size_t bytes) {
  if (state().broken != 0) return state().broken;
  if (leaves_pinned(to, bytes)) return invalid_value;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
Status queue_to_device(Address to, const void* from, std::size_t bytes, void*) {
  return to_device(to, from, bytes);
}
Status queue_to_host(void* to, Address from, std::size_t bytes, void*) { return to_host(to, from, bytes); }
void spend(std::size_t bytes) { state().clock += static_cast<double>(bytes) / fake_gpu().bytes_per_second; }
// Now, or when the graph that is being captured is launched.
Status now_or_captured(std::function<Status()> work) {
  if (state().capturing == nullptr) return work();
  state().capturing->nodes.push_back(std::move(work));
  return 0;
}
Status queue_copy(Address to, Address from, std::size_t bytes, void*) {
  return now_or_captured([=]() -> Status {
    if (state().broken != 0) return state().broken;
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    spend(bytes);
    return 0;
  });
}
Status queue_fill(Address to, unsigned char value, std::size_t bytes, void*) {
  return now_or_captured([=]() -> Status {
    if (state().broken != 0) return state().broken;
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    spend(bytes);
    return 0;
  });
}
Status launch_now(Function* of, FakeGpuLaunch as_seen) {
  if (state().broken != 0) return state().broken;
  ++fake_counts().launched;
  state().clock += fake_gpu().launch_seconds;
  constexpr Status out_of_resources = 701;
  as_seen.device = state().device;
  as_seen.shared_word = state().shared_word;
  as_seen.variable = &of->module->variable;
  as_seen.counters = of->module->counts() ? of->module->counters.data() : nullptr;
  const Status status = kernels().at(of->name).run(as_seen);
  if (status == out_of_resources) return status; // refused: nothing else comes of it
  state().broken = status;
  return 0;
}
Status launch(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
              unsigned shared, void*, void** parameters, void**) {
  if (state().broken != 0) return state().broken;
  auto* of = static_cast<Function*>(function);
  if (of->name == "assay_dirty_shared") {
    std::memcpy(&state().shared_word, parameters[1], sizeof state().shared_word);
    return 0;
  }
  FakeGpuLaunch as_seen{.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared_bytes = shared};
  if (state().capturing == nullptr) {
    as_seen.parameters = parameters;
    return launch_now(of, as_seen);
  }
  if (of->name == fake_gpu().refused_in_graph) return capture_unsupported;
  std::vector<std::uint64_t> values;
  for (const std::uint32_t size : kernels().at(of->name).param_bytes)
    std::memcpy(&values.emplace_back(0), parameters[values.size() - 1], size);
  state().capturing->nodes.push_back([of, as_seen, values]() mutable {
    std::vector<void*> pointers;
    for (std::uint64_t& value : values) pointers.push_back(&value);
    as_seen.parameters = pointers.data();
    return launch_now(of, as_seen);
  });
  return 0;
}
Status synchronize() { return state().broken; }
Status stream_create(void** stream, unsigned) {
  *stream = new int;
  return 0;
}
Status stream_destroy(void* stream) {
  delete static_cast<int*>(stream);
  return 0;
}
Status stream_synchronize(void*) { return state().broken; }
Status event_create(void** event, unsigned) {
  *event = new double(-1);
  return 0;
}
Status event_destroy(void* event) {
  delete static_cast<double*>(event);
  return 0;
}
Status event_record(void* event, void*) {
  *static_cast<double*>(event) = state().clock;
  return state().broken;
}
Status event_elapsed(float* milliseconds, void* from, void* to) {
  *milliseconds = static_cast<float>(1000 * (*static_cast<double*>(to) - *static_cast<double*>(from)));
  return state().broken;
}
Status begin_capture(void* stream, int) {
  if (stream == nullptr) return capture_unsupported; // as of CUDA's default stream
  state().capturing = new FakeGraph;
  return 0;
}
Status end_capture(void*, void** graph) {
  *graph = std::exchange(state().capturing, nullptr);
  return 0;
}
Status instantiate(void** executable, void* graph, unsigned long long) {
  *executable = new FakeGraph(*static_cast<FakeGraph*>(graph));
  return 0;
}
Status launch_graph(void* executable, void*) {
  ++fake_counts().graphs;
  for (auto& node : static_cast<FakeGraph*>(executable)->nodes)
    if (const Status status = node(); status != 0) return status;
  return 0;
}
Status destroy_graph(void* graph) {
  delete static_cast<FakeGraph*>(graph);
  return 0;
}

} // namespace

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
  kernels().clear();
  FakeCounts& counts = fake_counts();
  counts.starts = counts.compiled = counts.loaded = counts.launched = counts.graphs = 0;
}

void add_fake_kernel(const std::string& name, std::vector<std::uint32_t> param_bytes, FakeGpuKernel kernel) {
  kernels()[name] = {std::move(param_bytes), std::move(kernel)};
}

std::string fake_ptx(const std::vector<std::string>& names, const std::string& more) {
  std::string text = more + "\n";
  for (const std::string& name : names) text += ".visible .entry " + name + "()\n{\n\tret;\n}\n";
  return text;
}

const cuda::Driver& fake_driver() {
  static const cuda::Driver driver{.init = init,
                                   .version = version,
                                   .device_count = device_count,
                                   .device = device,
                                   .device_name = device_name,
                                   .device_attribute = device_attribute,
                                   .retain_context = retain_context,
                                   .set_context = set_context,
                                   .error_name = error_name,
                                   .error_text = error_text,
                                   .link_create = link_create,
                                   .link_add = link_add,
                                   .link_complete = link_complete,
                                   .link_destroy = link_destroy,
                                   .load_module = load_module,
                                   .unload_module = unload_module,
                                   .function = function,
                                   .function_attribute = function_attribute,
                                   .set_function_attribute = set_function_attribute,
                                   .parameter_info = parameter_info,
                                   .variable = variable,
                                   .allocate = allocate,
                                   .release = release,
                                   .pin = pin,
                                   .unpin = unpin,
                                   .to_device = to_device,
                                   .to_host = to_host,
                                   .fill = fill,
                                   .queue_to_device = queue_to_device,
                                   .queue_to_host = queue_to_host,
                                   .queue_copy = queue_copy,
                                   .queue_fill = queue_fill,
                                   .launch = launch,
                                   .synchronize = synchronize,
                                   .stream_create = stream_create,
                                   .stream_destroy = stream_destroy,
                                   .stream_synchronize = stream_synchronize,
                                   .event_create = event_create,
                                   .event_destroy = event_destroy,
                                   .event_record = event_record,
                                   .event_elapsed = event_elapsed,
                                   .begin_capture = begin_capture,
                                   .end_capture = end_capture,
                                   .instantiate = instantiate,
                                   .launch_graph = launch_graph,
                                   .destroy_graph = destroy_graph,
                                   .destroy_executable = destroy_graph};
  return driver;
}

} // namespace assay::testing
