#include "spaces.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

constexpr std::string_view right = R"(assay-case 1
kernel = kernels/rmsnorm/kernel.toml
dtype = f16
pass = backward
[dims]
rows = 3
cols = 40
[params]
eps = 1e-06
[inputs]
x = normal(mean=0, stddev=1) seed 7
x lines 0..2 step 2 = zero()
x strides = 50, 1
x offset = 3
x[2,39] = 1
weight = zero()
grad_y = zero()
)";

std::string verdict(const CaseSpace& space, std::string_view text) {
  const auto parsed = parse_case(text, "a.case");
  if (!parsed) return to_string(parsed.error());
  const auto checked = check_case(*parsed, space);
  return checked ? "" : to_string(checked.error());
}

std::string with(std::string_view line, std::string_view instead) {
  std::string text(right);
  const std::size_t at = text.find("\n" + std::string(line));
  EXPECT_NE(at, std::string::npos) << line;
  return text.replace(at + 1, text.find('\n', at + 1) - at - 1, instead);
}

TEST(CheckCase, a_right_one) { EXPECT_EQ(verdict(test::norm_space(), right), ""); }

TEST(CheckCase, each_fault_names_its_line) {
  const struct {
    const char* line;
    const char* with;
    const char* message;
  } faults[] = {
      {"dtype", "dtype = f64", "a.case:3: the kernel is not declared for f64"},
      {"rows", "rows = 0", "a.case:6: dim rows = 0 must be from 1 to 512"},
      {"rows", "rows = 513", "a.case:6: dim rows = 513 must be from 1 to 512"},
      {"rows", "row = 3", "a.case:6: unknown dim \"row\"; there are rows, cols"},
      {"rows", "", "a.case:5: dim rows is missing"},
      {"eps", "eps = 1e-5", "a.case:9: param eps = 1e-05 is not what the kernel's manifest declares (1e-06)"},
      {"eps", "epsilon = 1e-6", "a.case:9: unknown param \"epsilon\"; there are eps"},
      {"eps", "", "a.case:8: param eps is missing"},
      {"weight", "wait = zero()", "a.case:16: unknown input \"wait\"; there are x, weight, grad_y"},
      {"weight", "", "a.case:10: input weight is missing"},
      {"weight", "weight: f32 = zero()", "a.case:16: weight is of f16, not f32: write \"weight = ...\""},
      {"weight", "weight = rotary()", "a.case:16: rotary does not fit weight, which holds real values"},
      {"weight", "weight = specials()", "a.case:16: specials does not fit weight, which holds real values"},
      {"weight", "weight = zero()\nweight[0] = inf",
       "a.case:17: the value is not legal for weight, which holds real values"},
      {"weight", "weight = zero()\nweight offset = 1",
       "a.case:17: weight: the kernel's manifest allows no offset"},
      {"weight", "weight = zero()\nweight strides = 2",
       "a.case:17: weight: the kernel's manifest allows no strides"},
      {"grad_y", "grad_y = zero()\ngrad_y strides = 80, 2",
       "a.case:18: grad_y: the last stride must be 1 (row_strided)"},
      {"x lines", "x lines 3..3 = zero()", "a.case:12: x has 3 lines; a patch may name 0..2"},
      {"x lines", "x lines 0..4 step 2 = zero()", "a.case:12: x has 3 lines; a patch may name 0..2"},
      {"x lines", "x lines 0..2 = legal()", "a.case:12: legal does not fit x, which holds real values"},
      {"x strides", "x strides = 30, 1", "a.case:13: x: the strides make elements overlap"},
      {"x strides", "x strides = 1", "a.case:13: x: 1 strides for 2 dimensions"},
      {"x strides", "x strides = 1099511627776, 1", "a.case:13: x: the strides span more than 2^31 elements"},
      {"x offset", "x offset = 5000", "a.case:13: x: the offset must be from 0 to 4096"},
      {"x[2,39]", "x[3,39] = 1", "a.case:15: x[3,39] lies outside its shape [3,40]"},
      {"x[2,39]", "x[2] = 1", "a.case:15: x has 2 dimensions, not 1"},
  };
  for (const auto& fault : faults)
    EXPECT_EQ(verdict(test::norm_space(), with(fault.line, fault.with)), fault.message);
}

TEST(CheckCase, what_belongs_to_a_pass) {
  EXPECT_EQ(verdict(test::norm_space(), with("pass", "pass = forward")),
            "a.case:17: grad_y is the upstream gradient of a backward case");
  CaseSpace space = test::norm_space();
  space.has_backward = false;
  EXPECT_EQ(verdict(space, right), "a.case:4: the kernel has no backward launch");
}

TEST(CheckCase, indices) {
  constexpr std::string_view loss =
      "assay-case 1\nkernel = k\ndtype = f32\n[dims]\nrows = 2\nclasses = {}\n[inputs]\n"
      "logits = zero()\ntarget: i32 = legal()\ntarget[1] = {}\n";
  const auto text = [&](int classes, int value) { return fmt::format(fmt::runtime(loss), classes, value); };
  EXPECT_EQ(verdict(test::loss_space(), text(5, 4)), "");
  EXPECT_EQ(verdict(test::loss_space(), text(5, -100)), "");
  EXPECT_EQ(verdict(test::loss_space(), text(5, 5)),
            "a.case:10: the value is not legal for target, which holds class targets");
  EXPECT_EQ(verdict(test::loss_space(), text(0, 0)),
            "a.case:6: classes = 0 leaves no legal value for target");
}

TEST(CheckCase, absurd_sizes_are_refused) {
  CaseSpace space = test::norm_space();
  for (DimRange& range : space.dims) range.max = std::int64_t{1} << 40;
  std::string text = with("rows", "rows = 1099511627776");
  EXPECT_EQ(verdict(space, text), "a.case:5: x would have more than 2^31 elements");
}

} // namespace
} // namespace assay
