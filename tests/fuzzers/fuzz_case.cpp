// The case parser on arbitrary bytes; what parses must print to a text that parses to the same case, and be
// repairable.
#include "harness/base/check.h"
#include "harness/cases/case.h"
#include "harness/cases/order.h"

#include <cstddef>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto parsed = assay::parse_case({reinterpret_cast<const char*>(data), size}, "fuzzed.case");
  if (!parsed) {
    ASSAY_CHECK(parsed.error().kind == assay::ErrorKind::user, "an error that is not the user's");
    ASSAY_CHECK(parsed.error().place.file == "fuzzed.case", "an error without its file");
    ASSAY_CHECK(parsed.error().message.find('\n') == std::string::npos, "an error of several lines");
    return 0;
  }
  const std::string text = to_text(*parsed);
  const auto back = assay::parse_case(text, "printed.case");
  ASSAY_CHECK(back.has_value(), "the canonical text does not parse: {}", to_string(back.error()));
  ASSAY_CHECK(*back == *parsed, "the canonical text is another case");
  ASSAY_CHECK(to_text(*back) == text, "the canonical text is not canonical");
  ASSAY_CHECK(!simpler(*parsed, *back) && !simpler(*back, *parsed), "a case is simpler than itself");
  return 0;
}
