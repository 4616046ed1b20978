#include "harness/device/cuda/driver.h"

#include <dlfcn.h>

namespace assay::cuda {

namespace {

template <class F> bool find(void* library, F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

Result<Driver> open_library() {
  void* l = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (l == nullptr) return environment_error({}, "no CUDA driver on this machine (libcuda.so.1)");
  Driver d;
  const bool complete =
      find(l, d.init, "cuInit") && find(l, d.version, "cuDriverGetVersion") &&
      find(l, d.device_count, "cuDeviceGetCount") && find(l, d.device, "cuDeviceGet") &&
      find(l, d.device_name, "cuDeviceGetName") && find(l, d.device_attribute, "cuDeviceGetAttribute") &&
      find(l, d.retain_context, "cuDevicePrimaryCtxRetain") && find(l, d.set_context, "cuCtxSetCurrent") &&
      find(l, d.error_name, "cuGetErrorName") && find(l, d.error_text, "cuGetErrorString") &&
      find(l, d.link_create, "cuLinkCreate_v2") && find(l, d.link_add, "cuLinkAddData_v2") &&
      find(l, d.link_complete, "cuLinkComplete") && find(l, d.link_destroy, "cuLinkDestroy") &&
      find(l, d.load_module, "cuModuleLoadDataEx") && find(l, d.unload_module, "cuModuleUnload") &&
      find(l, d.function, "cuModuleGetFunction") && find(l, d.function_attribute, "cuFuncGetAttribute") &&
      find(l, d.set_function_attribute, "cuFuncSetAttribute") &&
      find(l, d.parameter_info, "cuFuncGetParamInfo") && find(l, d.variable, "cuModuleGetGlobal_v2") &&
      find(l, d.fill, "cuMemsetD8_v2") && find(l, d.allocate, "cuMemAlloc_v2") &&
      find(l, d.release, "cuMemFree_v2") && find(l, d.pin, "cuMemHostRegister_v2") &&
      find(l, d.unpin, "cuMemHostUnregister") && find(l, d.to_device, "cuMemcpyHtoD_v2") &&
      find(l, d.to_host, "cuMemcpyDtoH_v2") && find(l, d.queue_to_device, "cuMemcpyHtoDAsync_v2") &&
      find(l, d.queue_to_host, "cuMemcpyDtoHAsync_v2") && find(l, d.launch, "cuLaunchKernel") &&
      find(l, d.queue_copy, "cuMemcpyDtoDAsync_v2") && find(l, d.queue_fill, "cuMemsetD8Async") &&
      find(l, d.synchronize, "cuCtxSynchronize") && find(l, d.stream_create, "cuStreamCreate") &&
      find(l, d.stream_destroy, "cuStreamDestroy_v2") &&
      find(l, d.stream_synchronize, "cuStreamSynchronize") && find(l, d.stream_wait, "cuStreamWaitEvent") &&
      find(l, d.event_create, "cuEventCreate") && find(l, d.event_destroy, "cuEventDestroy_v2") &&
      find(l, d.event_record, "cuEventRecord") && find(l, d.event_elapsed, "cuEventElapsedTime") &&
      find(l, d.begin_capture, "cuStreamBeginCapture_v2") && find(l, d.end_capture, "cuStreamEndCapture") &&
      find(l, d.graph_create, "cuGraphCreate") && find(l, d.graph_add_kernel, "cuGraphAddKernelNode_v2") &&
      find(l, d.graph_set_kernel, "cuGraphExecKernelNodeSetParams_v2") &&
      find(l, d.instantiate, "cuGraphInstantiateWithFlags") && find(l, d.launch_graph, "cuGraphLaunch") &&
      find(l, d.destroy_graph, "cuGraphDestroy") && find(l, d.destroy_executable, "cuGraphExecDestroy");
  if (!complete)
    return environment_error({}, "libcuda.so.1 lacks functions that CUDA 12.4 has: {}", dlerror());
  return d;
}

} // namespace

Result<const Driver*> load_driver() {
  static const Result<Driver> driver = open_library();
  if (!driver) return std::unexpected(driver.error());
  return &*driver;
}

std::string error_text(const Driver& driver, Status status) {
  const char *name = nullptr, *text = nullptr;
  driver.error_name(status, &name);
  driver.error_text(status, &text);
  if (name == nullptr) return fmt::format("CUDA error {}", status);
  return text == nullptr ? std::string(name) : fmt::format("{}: {}", name, text);
}

} // namespace assay::cuda
