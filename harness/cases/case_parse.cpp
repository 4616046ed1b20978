#include "harness/cases/case.h"
#include "harness/cases/case_line.h"
#include "harness/cases/names.h"
#include "harness/cases/value_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

using namespace case_line;

constexpr std::size_t max_text = std::size_t{1} << 20;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf"; // of some editors; toml++ takes it, too
constexpr std::int64_t max_dim = std::int64_t{1} << 40;
constexpr std::size_t max_rank = 8;
constexpr std::size_t max_names = 64; // dims, params, inputs: each

class CaseParser {
 public:
  explicit CaseParser(const std::string& file_name) { case_.lines.file = file_name; }

  Result<Case> run(std::string_view text) {
    if (text.size() > max_text)
      return user_error(Place{case_.lines.file}, "a case of {} bytes; at most {} are allowed", text.size(),
                        max_text);
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      ++line_;
      ASSAY_TRY_VOID(read_line(trimmed(line)));
    }
    if (line_ == 0) return user_error(Place{case_.lines.file, 1}, "the first line must be \"assay-case 1\"");
    for (const std::string_view key : {"kernel", "dtype"})
      if (!case_.lines.of.contains(std::string(key)))
        return user_error(here(), "the case ends without a line \"{} = ...\"", key);
    for (const char* section :
         {"[dims]", "[params]", "[inputs]"}) // one that is not there is missed at the end
      case_.lines.of.emplace(section, line_);
    ASSAY_TRY_VOID(finish_overrides());
    if (case_.tolerance.max_ulp && case_.tolerance.evidence.empty())
      return user_error(case_.lines.place("tolerance.max_ulp"), "max_ulp needs a line \"evidence = ...\"");
    return std::move(case_);
  }

 private:
  enum class Section : std::uint8_t { head, dims, params, inputs, tolerance };

  Place here() const { return {case_.lines.file, line_, 0}; }

  // Notes where `what` stands; a second time is an error.
  Result<void> once(const std::string& what) {
    const auto [found, fresh] = case_.lines.of.emplace(what, line_);
    if (!fresh) return user_error(here(), "{} was already given on line {}", what, found->second);
    return {};
  }

  Result<void> read_line(std::string_view line) {
    if (line_ == 1) {
      if (line != "assay-case 1")
        return user_error(here(), "the first line must be \"assay-case 1\", not \"{}\"", shown(line));
      return {};
    }
    if (line.empty() || line.front() == '#') return {};
    if (line.front() == '[') return read_section(line);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos)
      return user_error(here(), "\"{}\" where a line \"name = value\" was expected", shown(line));
    const std::string_view key = trimmed(line.substr(0, equals));
    const std::string_view value = trimmed(line.substr(equals + 1));
    switch (section_) {
    case Section::head:
      return read_head(key, value);
    case Section::dims:
      return read_dim(key, value);
    case Section::params:
      return read_param(key, value);
    case Section::inputs:
      return read_input(key, value);
    case Section::tolerance:
      return read_tolerance(key, value);
    }
    return {};
  }

  Result<void> read_section(std::string_view line) {
    static constexpr std::pair<std::string_view, Section> sections[] = {{"[dims]", Section::dims},
                                                                        {"[params]", Section::params},
                                                                        {"[inputs]", Section::inputs},
                                                                        {"[tolerance]", Section::tolerance}};
    const auto* found = std::ranges::find(sections, line, &std::pair<std::string_view, Section>::first);
    if (found == std::end(sections))
      return user_error(here(),
                        "unknown section \"{}\"; there are [dims], [params], [inputs] and [tolerance]",
                        shown(line));
    section_ = found->second;
    return once(std::string(line));
  }

  Result<void> read_head(std::string_view key, std::string_view value) {
    ASSAY_TRY_VOID(once(shown(key)));
    if (key == "kernel" || key == "source") {
      ASSAY_TRY((key == "kernel" ? case_.manifest : case_.source_hash), read_text(value, here()));
      if (key == "kernel" && case_.manifest.empty()) return user_error(here(), "the kernel's name is empty");
    } else if (key == "dtype") {
      const auto type = parse_dtype(value);
      if (!type || !is_float(*type))
        return user_error(here(), "unknown dtype \"{}\"; there are f64, f32, f16, bf16, f8e4m3 and f8e5m2",
                          shown(value));
      case_.dtype = *type;
    } else if (key == "pass") {
      const auto pass = parse_pass(value);
      if (!pass) return user_error(here(), "pass must be forward or backward, not \"{}\"", shown(value));
      case_.pass = *pass;
    } else if (key == "schedule") {
      if (!read_number(value, case_.schedule_seed))
        return user_error(here(), "schedule must be an integer from 0 to 2^64-1, not \"{}\"", shown(value));
    } else if (key == "expect") {
      if (value == "pass") return {};
      if (!value.starts_with("fail "))
        return user_error(here(), "expect must be \"pass\" or \"fail SIGNATURE\", not \"{}\"", shown(value));
      case_.expect.pass = false;
      ASSAY_TRY(case_.expect.signature, read_text(trimmed(value.substr(5)), here()));
      if (case_.expect.signature.empty()) return user_error(here(), "the expected signature is empty");
    } else {
      return user_error(here(),
                        "unknown key \"{}\"; there are kernel, source, dtype, pass, schedule and expect",
                        shown(key));
    }
    return {};
  }

  Result<std::string> read_name(std::string_view key, std::string_view section, std::size_t count) {
    if (!is_name(key))
      return user_error(here(), "\"{}\" must be a name: letters, digits and '_', at most 64, no digit first",
                        shown(key));
    if (count == max_names) return user_error(here(), "more than {} {}", max_names, section);
    ASSAY_TRY_VOID(once(fmt::format("{}.{}", section, key)));
    return std::string(key);
  }

  Result<void> read_dim(std::string_view key, std::string_view value) {
    ASSAY_TRY(std::string name, read_name(key, "dims", case_.dims.size()));
    std::int64_t size = 0;
    if (!read_number(value, size) || size < 0 || size > max_dim)
      return user_error(here(), "dim {} must be an integer from 0 to 2^40, not \"{}\"", name, shown(value));
    case_.dims.emplace_back(std::move(name), size);
    return {};
  }

  Result<void> read_param(std::string_view key, std::string_view value) {
    ASSAY_TRY(std::string name, read_name(key, "params", case_.params.size()));
    ASSAY_TRY(const double number, read_finite(name, value));
    case_.params.emplace_back(std::move(name), number);
    return {};
  }

  Result<double> read_finite(std::string_view name, std::string_view value) const {
    double number = 0;
    if (!read_number(value, number) || !std::isfinite(number))
      return user_error(here(), "{} must be a finite number, not \"{}\"", name, shown(value));
    return number;
  }

  // --- inputs: NAME[: TYPE] = ..., NAME lines A..B [step S] = ..., NAME strides = ..., NAME offset = ...,
  // NAME[i,j] = ...

  Result<void> read_input(std::string_view key, std::string_view value) {
    const std::size_t name_end =
        std::ranges::find_if_not(key, [](char c) { return is_letter(c) || is_digit(c); }) - key.begin();
    const std::string_view name = key.substr(0, name_end);
    const std::string_view rest = trimmed(key.substr(name_end));
    if (rest.empty() || rest.starts_with(':')) return read_base(name, rest, value);

    const auto input = std::ranges::find(case_.inputs, name, &TensorInput::tensor);
    if (input == case_.inputs.end())
      return user_error(here(), "\"{}\" comes before the line \"{} = ...\"", shown(key), shown(name));
    if (rest.starts_with('[')) return read_override(*input, rest, value);
    if (rest.starts_with("lines ")) return read_patch(*input, trimmed(rest.substr(6)), value);
    if (rest == "strides") return read_strides(*input, value);
    if (rest == "offset") {
      ASSAY_TRY_VOID(once(fmt::format("inputs.{}.offset", name)));
      if (!read_number(value, input->layout.offset) || input->layout.offset < 0 ||
          input->layout.offset > max_dim)
        return user_error(here(), "offset must be an integer from 0 to 2^40, not \"{}\"", shown(value));
      return {};
    }
    return user_error(
        here(), "\"{}\" must be NAME, NAME: TYPE, NAME lines A..B, NAME strides, NAME offset or NAME[i,j]",
        shown(key));
  }

  Result<void> read_base(std::string_view name, std::string_view type, std::string_view value) {
    TensorInput input;
    ASSAY_TRY(input.tensor, read_name(name, "inputs", case_.inputs.size()));
    if (!type.empty()) {
      input.dtype = parse_dtype(trimmed(type.substr(1)));
      if (!input.dtype) return user_error(here(), "unknown type \"{}\"", shown(trimmed(type.substr(1))));
    }
    const std::size_t close = value.rfind(')');
    const std::string_view head = close == std::string_view::npos ? value : value.substr(0, close + 1);
    const std::string_view tail = trimmed(value.substr(head.size()));
    ASSAY_TRY(input.distribution, distribution(head));
    if (!tail.empty() && (!tail.starts_with("seed ") || !read_number(trimmed(tail.substr(5)), input.seed)))
      return user_error(here(), "\"{}\" where \"seed\" and an integer from 0 to 2^64-1 were expected",
                        shown(tail));
    case_.inputs.push_back(std::move(input));
    return {};
  }

  Result<Distribution> distribution(std::string_view text) const {
    if (text.size() > 400) return user_error(here(), "a distribution of {} letters", text.size());
    return parse_distribution(text, here());
  }

  Result<void> read_patch(TensorInput& input, std::string_view range, std::string_view value) {
    LinePatch patch;
    std::int64_t last = 0;
    const std::size_t step_at = range.find(" step ");
    const std::string_view lines = trimmed(range.substr(0, step_at));
    const std::size_t dots = lines.find("..");
    const bool step_ok =
        step_at == std::string_view::npos || (read_number(trimmed(range.substr(step_at + 6)), patch.step));
    if (dots == std::string_view::npos || !step_ok ||
        !read_number(trimmed(lines.substr(0, dots)), patch.first) ||
        !read_number(trimmed(lines.substr(dots + 2)), last) || patch.first < 0 || last < patch.first ||
        last > max_dim || patch.step < 1 || patch.step > max_dim || (last - patch.first) % patch.step != 0)
      return user_error(here(),
                        "\"lines {}\" must be \"lines FIRST..LAST\" or \"lines FIRST..LAST step STEP\" with "
                        "LAST = FIRST + a multiple of STEP",
                        shown(range));
    patch.count = (last - patch.first) / patch.step + 1;
    ASSAY_TRY(patch.distribution, distribution(value));
    case_.lines.of.emplace(fmt::format("inputs.{}.patches.{}", input.tensor, input.patches.size()), line_);
    input.patches.push_back(std::move(patch));
    return {};
  }

  Result<void> read_strides(TensorInput& input, std::string_view value) {
    ASSAY_TRY_VOID(once(fmt::format("inputs.{}.strides", input.tensor)));
    while (!value.empty()) {
      std::int64_t stride = 0;
      const std::string_view item = take_until(value, ',');
      if (!read_number(item, stride) || stride < 1 || stride > max_dim)
        return user_error(here(), "a stride must be an integer from 1 to 2^40, not \"{}\"", shown(item));
      if (input.layout.strides.size() == max_rank)
        return user_error(here(), "more than {} strides", max_rank);
      input.layout.strides.push_back(stride);
    }
    if (input.layout.strides.empty()) return user_error(here(), "strides is empty");
    return {};
  }

  Result<void> read_override(TensorInput& input, std::string_view place, std::string_view value) {
    ElementOverride element;
    if (!place.ends_with(']')) return user_error(here(), "\"{}\" lacks its closing bracket", shown(place));
    std::string_view items = place.substr(1, place.size() - 2);
    for (bool more = true; more;) {
      more = items.find(',') != std::string_view::npos;
      std::int64_t index = 0;
      const std::string_view item = take_until(items, ',');
      if (!read_number(item, index) || index < 0 || index > max_dim)
        return user_error(here(), "an index must be an integer from 0 to 2^40, not \"{}\"", shown(item));
      if (element.index.size() == max_rank) return user_error(here(), "more than {} indices", max_rank);
      element.index.push_back(index);
    }
    ASSAY_TRY_VOID(once(fmt::format("{}[{}]", input.tensor, fmt::join(element.index, ","))));
    // The bits are known once the case's dtype is; it may stand further down only in the head, but be safe.
    pending_.push_back({static_cast<std::size_t>(&input - case_.inputs.data()), input.overrides.size(), line_,
                        std::string(value)});
    case_.lines.of.emplace(fmt::format("inputs.{}.overrides.{}", input.tensor, input.overrides.size()),
                           line_);
    input.overrides.push_back(std::move(element));
    return {};
  }

  Result<void> finish_overrides() {
    for (const auto& [input, element, line, text] : pending_) {
      const DType type = case_.inputs[input].dtype.value_or(case_.dtype);
      const auto bits = parse_value(type, text);
      if (!bits)
        return user_error(Place{case_.lines.file, line, 0}, "\"{}\" is not a value of {}", shown(text),
                          name_of(type));
      case_.inputs[input].overrides[element].bits = *bits;
    }
    return {};
  }

  Result<void> read_tolerance(std::string_view key, std::string_view value) {
    ASSAY_TRY_VOID(once(fmt::format("tolerance.{}", shown(key))));
    Tolerance& tolerance = case_.tolerance;
    if (key == "flush_subnormals") {
      if (value != "true" && value != "false")
        return user_error(here(), "flush_subnormals must be true or false, not \"{}\"", shown(value));
      tolerance.flush_subnormals = value == "true";
      return {};
    }
    if (key == "evidence") {
      ASSAY_TRY(tolerance.evidence, read_text(value, here()));
      return {};
    }
    struct Known {
      std::string_view key;
      bool zero_allowed;
    };
    static constexpr Known known[] = {{"fudge", false},
                                      {"atol", true},
                                      {"reference_limit", false},
                                      {"rms_limit", false},
                                      {"max_ulp", true}};
    const auto* found = std::ranges::find(known, key, &Known::key);
    if (found == std::end(known))
      return user_error(
          here(),
          "unknown tolerance \"{}\"; there are fudge, atol, reference_limit, rms_limit, max_ulp, "
          "evidence and flush_subnormals",
          shown(key));
    ASSAY_TRY(const double number, read_finite(key, value));
    if (number < 0 || (number == 0 && !found->zero_allowed))
      return user_error(here(), "{} = {} must be {} 0", key, number,
                        found->zero_allowed ? "at least" : "larger than");
    if (key == "fudge")
      tolerance.fudge = number;
    else if (key == "atol")
      tolerance.atol = number;
    else if (key == "reference_limit")
      tolerance.reference_limit = number;
    else if (key == "rms_limit")
      tolerance.rms_limit = number;
    else
      tolerance.max_ulp = number;
    return {};
  }

  struct PendingOverride {
    std::size_t input;
    std::size_t element;
    int line;
    std::string text;
  };

  Case case_;
  Section section_ = Section::head;
  int line_ = 0;
  std::vector<PendingOverride> pending_;
};

} // namespace

Result<Case> parse_case(std::string_view text, const std::string& file_name) {
  return CaseParser(file_name).run(text);
}

} // namespace assay
