// From what the user wrote to PTX: CUDA C++ through NVRTC and MLIR's gpu dialect through its optimizer, with
// a disk cache; a .ptx source as it is.
#pragma once

#include "harness/base/error.h"
#include "harness/compile/ptx_source.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace assay {

struct CompileRequest {
  std::filesystem::path path; // of the source, as the user wrote it; faults and errors name it so. Its
                              // extension says what it is
  std::string text;           // its contents
  // What will be launched: name expressions as in CUDA C++ ("softmax_forward<__half>"). For a .ptx or .mlir
  // source an entry's name, or its demangled name without the parameter list where only one entry has it.
  std::vector<std::string> names;
  std::vector<std::filesystem::path>
      include_dirs;                 // searched after the source's own folder, before the toolkit's
  std::vector<std::string> options; // extra NVRTC options (-lineinfo is always passed); see mlir_pipeline.h
  std::string arch = "compute_90"; // unless `options` name one. A real one, "sm_90": the PTX is the same, and
                                   // its machine code is put into the cubin_cache (cubin_cache.h) beside it
  // NVRTC: (name as it is included, text), found before any file of that name.
  std::vector<std::pair<std::string, std::string>> headers{};
};

// What there is to tell about a compilation beside its result; filled on failure too.
struct CompileReport {
  std::string log;     // the compiler's whole log: warnings, and every error
  bool cached = false; // nothing was compiled
};

// The default cache: $XDG_CACHE_HOME/assay if that is set, else the build folder's cache/.
std::filesystem::path default_cache_dir();

// Result's `entries` has one element for every requested name. Errors:
//   user          the source does not compile (first error of the log, with its place), a name names no
//   kernel, an
//                 option NVRTC does not know, a file that is not there
//   environment   no NVRTC, no CUDA headers, no MLIR: says what to install
// A cache that cannot be read or written costs time, never correctness: it is no error. An empty cache_dir
// means none.
Result<PtxSource> compile(const CompileRequest& request,
                          const std::filesystem::path& cache_dir = default_cache_dir(),
                          CompileReport* report = nullptr);

// "NVRTC 13.0 (/usr/local/cuda/lib64/libnvrtc.so.13)", for `assay list` and reports; or why there is none.
Result<std::string> compiler_version();

} // namespace assay
