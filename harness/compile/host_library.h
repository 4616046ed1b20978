// C++ of the user's to a shared object that this very process can load, by the clang that built Assay, with a
// disk cache.
#pragma once

#include "harness/base/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

struct HostLibraryRequest {
  std::filesystem::path header;     // the user's, as errors shall name it; what is compiled begins with it
  std::string header_text;          // its contents
  std::string text;                 // our own text behind it
  std::filesystem::path compiler;   // clang++
  std::vector<std::string> options; // of the compiler
  std::vector<std::filesystem::path> include_dirs;
  std::vector<std::filesystem::path> archives; // linked into it
  std::vector<std::string> libraries;          // "fmt": likewise, shared
};

// The shared object's path. Compiled anew where anything it is made of has changed: the texts, all that they
// include below include_dirs, the options, the archives, the compiler. Errors:
//   user         the header does not compile: the first error, at its place in the user's file
//   environment  no such compiler (says what to install), or nowhere to write
Result<std::filesystem::path> host_library(const HostLibraryRequest& request,
                                           const std::filesystem::path& cache_dir);

// The first error in what clang wrote. One within our own headers is told at the user's line that led there;
// where there is none, at the header itself.
Error host_error(const std::string& log, const std::filesystem::path& header);

} // namespace assay
