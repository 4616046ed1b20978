#include "harness/base/check.h"

#include <cstdio>
#include <unistd.h>

namespace assay {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  fmt::print(stderr, "assay: internal fault at {}:{}: {} ({})\n", file, line, message, condition);
  std::fflush(stderr);
  _exit(70);
}

} // namespace assay
