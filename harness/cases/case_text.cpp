#include "harness/cases/case.h"
#include "harness/cases/overrides.h"
#include "harness/cases/value_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace assay {

namespace {

// As it stands where a reader would understand it bare, else quoted.
std::string quoted_if_needed(std::string_view text) {
  const bool bare =
      !text.empty() && text.front() != ' ' && text.back() != ' ' && text.front() != '"' &&
      text.front() != '#' &&
      std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
  if (bare) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (byte < ' ' || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += c;
  }
  return result + "\"";
}

class Printer {
 public:
  template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
    text += '\n';
  }

  void input(const TensorInput& input, DType case_type) {
    const DType type = input.dtype.value_or(case_type);
    const std::string type_text = input.dtype ? fmt::format(": {}", name_of(type)) : "";
    const std::string seed = input.seed != 0 ? fmt::format(" seed {}", input.seed) : "";
    line("{}{} = {}{}", input.tensor, type_text, to_text(input.distribution), seed);
    for (const LinePatch& patch : input.patches) {
      const std::string step = patch.step != 1 ? fmt::format(" step {}", patch.step) : "";
      line("{} lines {}..{}{} = {}", input.tensor, patch.first, patch.first + (patch.count - 1) * patch.step,
           step, to_text(patch.distribution));
    }
    if (!input.layout.strides.empty())
      line("{} strides = {}", input.tensor, fmt::join(input.layout.strides, ", "));
    if (input.layout.offset != 0) line("{} offset = {}", input.tensor, input.layout.offset);
    std::vector<ElementOverride> overrides = input.overrides;
    keep_last_of_each_place(overrides);
    for (const ElementOverride& element : overrides)
      line("{}[{}] = {}", input.tensor, fmt::join(element.index, ","), value_text(type, element.bits));
  }

  void tolerance(const Tolerance& tolerance) {
    line("fudge = {}", tolerance.fudge);
    line("atol = {}", tolerance.atol);
    line("reference_limit = {}", tolerance.reference_limit);
    if (tolerance.rms_limit) line("rms_limit = {}", *tolerance.rms_limit);
    if (tolerance.max_ulp) line("max_ulp = {}", *tolerance.max_ulp);
    if (!tolerance.evidence.empty()) line("evidence = {}", quoted_if_needed(tolerance.evidence));
    line("flush_subnormals = {}", tolerance.flush_subnormals);
  }

  std::string text;
};

} // namespace

std::string to_text(const Case& test_case) {
  Printer out;
  out.line("assay-case 1");
  out.line("kernel = {}", quoted_if_needed(test_case.manifest));
  if (!test_case.source_hash.empty()) out.line("source = {}", quoted_if_needed(test_case.source_hash));
  out.line("dtype = {}", name_of(test_case.dtype));
  out.line("pass = {}", name_of(test_case.pass));
  out.line("schedule = {}", test_case.schedule_seed);
  if (test_case.expect.pass)
    out.line("expect = pass");
  else
    out.line("expect = fail {}", quoted_if_needed(test_case.expect.signature));
  out.line("\n[dims]");
  for (const auto& [name, value] : test_case.dims) out.line("{} = {}", name, value);
  if (!test_case.params.empty()) {
    out.line("\n[params]");
    for (const auto& [name, value] : test_case.params) out.line("{} = {}", name, value);
  }
  out.line("\n[inputs]");
  for (const TensorInput& input : test_case.inputs) out.input(input, test_case.dtype);
  out.line("\n[tolerance]");
  out.tolerance(test_case.tolerance);
  return std::move(out.text);
}

} // namespace assay
