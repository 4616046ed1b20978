#include "harness/compile/nvrtc_library.h"

#include <dlfcn.h>
#include <memory>

namespace assay {
namespace {

template <class Function> bool bind(void* handle, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  return function != nullptr;
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> result;
  result.reserve(texts.size());
  for (const std::string& text : texts) result.push_back(text.c_str());
  return result;
}

// NVRTC hands texts out as a size that counts the closing NUL, then the bytes.
std::string fetch(int (*size_of)(void*, std::size_t*), int (*text_of)(void*, char*), void* program) {
  std::size_t size = 0;
  if (size_of(program, &size) != NvrtcLibrary::success || size <= 1) return {};
  std::string text(size, '\0');
  if (text_of(program, text.data()) != NvrtcLibrary::success) return {};
  text.resize(text.find('\0')); // the last byte is one
  return text;
}

// libnvrtc opens its libnvrtc-builtins by name alone. Loaded here first, the one beside it is taken, and not
// another release's that the dynamic loader knows of, or none at all.
void load_builtins_beside(const std::filesystem::path& library) {
  std::error_code error;
  for (std::filesystem::directory_iterator it(library.parent_path(), error), end; !error && it != end;
       it.increment(error))
    if (it->path().filename().string().starts_with("libnvrtc-builtins.so."))
      dlopen(it->path().c_str(), RTLD_NOW);
}

} // namespace

Result<NvrtcLibrary> load_nvrtc(const Toolkit& toolkit) {
  load_builtins_beside(toolkit.library);
  void* handle = dlopen(toolkit.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return environment_error({}, "NVRTC cannot be loaded ({}): reinstall the CUDA toolkit it belongs to",
                             dlerror());
  NvrtcLibrary library;
  library.toolkit = toolkit;
  const bool complete = bind(handle, "nvrtcGetErrorString", library.get_error_string) &&
                        bind(handle, "nvrtcVersion", library.version) &&
                        bind(handle, "nvrtcCreateProgram", library.create_program) &&
                        bind(handle, "nvrtcDestroyProgram", library.destroy_program) &&
                        bind(handle, "nvrtcCompileProgram", library.compile_program) &&
                        bind(handle, "nvrtcGetPTXSize", library.get_ptx_size) &&
                        bind(handle, "nvrtcGetPTX", library.get_ptx) &&
                        bind(handle, "nvrtcGetCUBINSize", library.get_cubin_size) &&
                        bind(handle, "nvrtcGetCUBIN", library.get_cubin) &&
                        bind(handle, "nvrtcGetProgramLogSize", library.get_log_size) &&
                        bind(handle, "nvrtcGetProgramLog", library.get_log) &&
                        bind(handle, "nvrtcAddNameExpression", library.add_name_expression) &&
                        bind(handle, "nvrtcGetLoweredName", library.get_lowered_name);
  if (!complete || library.version(&library.major, &library.minor) != NvrtcLibrary::success)
    return environment_error({}, "{} is not an NVRTC that Assay can use: install version 12 or newer",
                             toolkit.library.string());
  return library;
}

const Result<NvrtcLibrary>& nvrtc() {
  static const Result<NvrtcLibrary> library = [] -> Result<NvrtcLibrary> {
    ASSAY_TRY(const Toolkit toolkit, find_toolkit());
    return load_nvrtc(toolkit);
  }();
  return library;
}

Result<NvrtcOutput> run_nvrtc(const NvrtcLibrary& library, const std::string& source, const std::string& name,
                              const std::vector<std::pair<std::string, std::string>>& headers,
                              const std::vector<std::string>& expressions,
                              const std::vector<std::string>& options) {
  std::vector<const char*> header_names, header_texts;
  for (const auto& [header_name, header_text] : headers) {
    header_names.push_back(header_name.c_str());
    header_texts.push_back(header_text.c_str());
  }
  const auto failed = [&](int status) {
    return environment_error(Place{name}, "NVRTC failed: {}", library.get_error_string(status));
  };

  NvrtcLibrary::Handle handle = nullptr;
  if (const int status =
          library.create_program(&handle, source.c_str(), name.c_str(), static_cast<int>(headers.size()),
                                 header_texts.data(), header_names.data()))
    return failed(status);
  const auto destroy = [&](void** program) { library.destroy_program(program); };
  const std::unique_ptr<void*, decltype(destroy)> program(&handle, destroy);

  for (const std::string& expression : expressions)
    if (const int status = library.add_name_expression(handle, expression.c_str())) return failed(status);

  NvrtcOutput output;
  output.status = library.compile_program(handle, static_cast<int>(options.size()), pointers(options).data());
  output.log = fetch(library.get_log_size, library.get_log, handle);
  if (output.status != NvrtcLibrary::success) {
    if (output.status == NvrtcLibrary::invalid_option || output.status == NvrtcLibrary::compilation_error)
      return output;
    return failed(output.status);
  }
  output.ptx = fetch(library.get_ptx_size, library.get_ptx, handle);
  if (std::size_t size = 0; library.get_cubin_size(handle, &size) == NvrtcLibrary::success && size > 0) {
    output.cubin.resize(size);
    if (library.get_cubin(handle, output.cubin.data()) != NvrtcLibrary::success) output.cubin.clear();
  }
  for (const std::string& expression : expressions) {
    const char* mangled = nullptr;
    if (const int status = library.get_lowered_name(handle, expression.c_str(), &mangled))
      return failed(status);
    if (mangled == nullptr)
      return user_error(
          Place{name}, "NVRTC does not say what '{}' is called in its PTX: is the source UTF-8?", expression);
    output.names.emplace_back(mangled);
  }
  return output;
}

} // namespace assay
