// The fake driver: a cubin is the PTX's text, a kernel one of the functions that tests have added.
#include "tests/cuda/fake_state.h"

#include <cstring>
#include <unistd.h>

namespace assay::testing::fake {

namespace {

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

} // namespace

void add_modules(cuda::Driver& driver) {
  driver.link_create = link_create;
  driver.link_add = link_add;
  driver.link_complete = link_complete;
  driver.link_destroy = link_destroy;
  driver.load_module = load_module;
  driver.unload_module = unload_module;
  driver.function = function;
  driver.function_attribute = function_attribute;
  driver.set_function_attribute = set_function_attribute;
  driver.parameter_info = parameter_info;
  driver.variable = variable;
}

} // namespace assay::testing::fake
