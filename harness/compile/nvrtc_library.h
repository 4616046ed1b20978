// NVRTC, loaded at run time: the program starts, and runs .ptx sources, where there is none. The few C
// declarations it needs are written out here, so that building does not need a toolkit either.
#pragma once

#include "harness/base/error.h"
#include "harness/compile/toolkit.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace assay {

// As nvrtc.h documents them (CUDA toolkit documentation, NVRTC, section 3).
struct NvrtcLibrary {
  using Handle = void*; // nvrtcProgram
  enum Status : int { success = 0, out_of_memory = 1, invalid_option = 5, compilation_error = 6 };

  Toolkit toolkit;
  int major = 0, minor = 0;

  const char* (*get_error_string)(int status) = nullptr;
  int (*version)(int* major, int* minor) = nullptr;
  int (*create_program)(Handle* program, const char* source, const char* name, int header_count,
                        const char* const* header_texts, const char* const* header_names) = nullptr;
  int (*destroy_program)(Handle* program) = nullptr;
  int (*compile_program)(Handle program, int option_count, const char* const* options) = nullptr;
  int (*get_ptx_size)(Handle program, std::size_t* size) = nullptr;
  int (*get_ptx)(Handle program, char* text) = nullptr;
  int (*get_cubin_size)(Handle program, std::size_t* size) = nullptr;
  int (*get_cubin)(Handle program, char* bytes) = nullptr;
  int (*get_log_size)(Handle program, std::size_t* size) = nullptr;
  int (*get_log)(Handle program, char* text) = nullptr;
  int (*add_name_expression)(Handle program, const char* expression) = nullptr;
  int (*get_lowered_name)(Handle program, const char* expression, const char** mangled) = nullptr;
};

// Loads a library; it stays loaded until the process ends.
Result<NvrtcLibrary> load_nvrtc(const Toolkit& toolkit);

// The one that find_toolkit() finds, loaded once a process; the error is the same every time too.
const Result<NvrtcLibrary>& nvrtc();

// One run of the compiler. `headers` are (name, text) pairs that #include finds before any file.
struct NvrtcOutput {
  int status = NvrtcLibrary::success;
  std::string log;
  std::string ptx;                // where status is success
  std::string cubin;              // as well, where an option names a real architecture (sm_90)
  std::vector<std::string> names; // mangled, in the order of the expressions
};
Result<NvrtcOutput> run_nvrtc(const NvrtcLibrary& library, const std::string& source, const std::string& name,
                              const std::vector<std::pair<std::string, std::string>>& headers,
                              const std::vector<std::string>& expressions,
                              const std::vector<std::string>& options);

} // namespace assay
