// The manifest parser on arbitrary bytes: it answers with a manifest or one line of error, never otherwise.
#include "harness/base/check.h"
#include "harness/cases/manifest.h"

#include <cstddef>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto manifest =
      assay::parse_manifest({reinterpret_cast<const char*>(data), size}, "fuzzed/kernel.toml");
  if (!manifest) {
    ASSAY_CHECK(manifest.error().kind == assay::ErrorKind::user, "an error that is not the user's");
    ASSAY_CHECK(manifest.error().message.find('\n') == std::string::npos, "an error of several lines");
    return 0;
  }
  ASSAY_CHECK(!manifest->dims.empty() && !manifest->dtypes.empty() && !manifest->launches.empty(),
              "an empty manifest");
  const assay::Scope three = [](std::string_view) { return std::optional<std::int64_t>(3); };
  for (const assay::Let& let : manifest->lets) (void)let.value.evaluate(three);
  return 0;
}
