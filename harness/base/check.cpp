#include "harness/base/check.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace assay {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  fmt::print(stderr, "assay: internal fault at {}:{}: {} ({})\n", file, line, message, condition);
  std::fflush(stderr);
#if __has_feature(address_sanitizer)
  std::abort(); // so that a fuzzer keeps the input
#else
  _exit(70);
#endif
}

} // namespace assay
