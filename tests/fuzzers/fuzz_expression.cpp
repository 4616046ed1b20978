// The expression parser and evaluator on arbitrary bytes.
#include "harness/base/check.h"
#include "harness/cases/expression.h"

#include <cstddef>
#include <limits>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto expression =
      assay::Expression::parse({reinterpret_cast<const char*>(data), size}, {"k.toml", 1, 1});
  if (!expression) {
    ASSAY_CHECK(expression.error().kind == assay::ErrorKind::user, "an error that is not the user's");
    return 0;
  }
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-7}, std::int64_t{1} << 40,
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    const auto first = expression->evaluate([&](std::string_view) { return std::optional(value); });
    const auto again = assay::Expression::parse(expression->text(), {})->evaluate([&](std::string_view) {
      return std::optional(value);
    });
    ASSAY_CHECK(first.has_value() == again.has_value() && (!first || *first == *again),
                "two values of one text");
  }
  return 0;
}
