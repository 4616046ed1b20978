#include "harness/cases/case.h"
#include "harness/cases/value_text.h"
#include "harness/numerics/formats.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

constexpr std::string_view example = R"(assay-case 1
# a comment
kernel = kernels/softmax_naive/kernel.toml
source = 5f1c
dtype = f16
pass = forward
schedule = 7
expect = fail softmax_naive-forward-y-structure

[dims]
rows = 4
cols = 257

[params]
eps = 1e-06

[inputs]
x = normal(mean=0, stddev=1) seed 7
x lines 3..3 = one_outlier(value=100, place=0.5, stddev=1)
x lines 0..2 step 2 = zero()
x strides = 300, 1
x offset = 1
x[2,17] = 3.2e4
x[0,0] = -0
x[0,1] = nan
x[0,2] = bits(0x7c00)
index: i32 = legal(edges=0.25) seed 3
index[2] = -100

[tolerance]
fudge = 2
atol = 0
reference_limit = 0.1
max_ulp = 3
evidence = "a \"quoted\" reason"
flush_subnormals = true
)";

Case parsed(std::string_view text) {
  auto result = parse_case(text, "a.case");
  EXPECT_TRUE(result.has_value()) << to_string(result.error());
  return result ? *std::move(result) : Case{};
}

TEST(CaseText, everything_that_a_case_can_say) {
  const Case c = parsed(example);
  EXPECT_EQ(c.manifest, "kernels/softmax_naive/kernel.toml");
  EXPECT_EQ(c.source_hash, "5f1c");
  EXPECT_EQ(c.dtype, DType::f16);
  EXPECT_EQ(c.schedule_seed, 7u);
  EXPECT_FALSE(c.expect.pass);
  EXPECT_EQ(c.expect.signature, "softmax_naive-forward-y-structure");
  EXPECT_EQ(c.dims, (std::vector<std::pair<std::string, std::int64_t>>{{"rows", 4}, {"cols", 257}}));
  EXPECT_EQ(c.params, (std::vector<std::pair<std::string, double>>{{"eps", 1e-6}}));
  ASSERT_EQ(c.inputs.size(), 2u);
  const TensorInput& x = c.inputs[0];
  EXPECT_EQ(x.seed, 7u);
  EXPECT_FALSE(x.dtype.has_value());
  ASSERT_EQ(x.patches.size(), 2u);
  EXPECT_EQ(x.patches[0].first, 3);
  EXPECT_EQ(x.patches[0].count, 1);
  EXPECT_EQ(x.patches[1].step, 2);
  EXPECT_EQ(x.patches[1].count, 2);
  EXPECT_EQ(x.layout.strides, (std::vector<std::int64_t>{300, 1}));
  EXPECT_EQ(x.layout.offset, 1);
  ASSERT_EQ(x.overrides.size(), 4u);
  EXPECT_EQ(x.overrides[0].index, (std::vector<std::int64_t>{2, 17}));
  EXPECT_EQ(x.overrides[0].bits, 0x77d0u); // 32000 = 2^14 * (1 + 976/1024): 0x7400 + 0x3d0
  EXPECT_EQ(x.overrides[1].bits, 0x8000u);
  EXPECT_EQ(x.overrides[2].bits, to_bits(DType::f16, NAN));
  EXPECT_EQ(x.overrides[3].bits, 0x7c00u);
  EXPECT_EQ(c.inputs[1].dtype, DType::i32);
  EXPECT_EQ(c.inputs[1].overrides[0].bits, 0xffffff9cu);
  EXPECT_EQ(c.tolerance.max_ulp, 3);
  EXPECT_EQ(c.tolerance.evidence, "a \"quoted\" reason");
  EXPECT_TRUE(c.tolerance.flush_subnormals);
  EXPECT_EQ(c.lines.place("dims.cols").line, 12);
  EXPECT_EQ(c.lines.place("inputs.index.overrides.0").line, 28);
}

TEST(CaseText, printing_is_canonical_and_parses_to_the_same_case) {
  const Case c = parsed(example);
  const std::string text = to_text(c);
  EXPECT_EQ(parsed(text), c);
  EXPECT_EQ(to_text(parsed(text)), text);
  EXPECT_NE(text.find("x[2,17] = 32000\n"), std::string::npos);
  EXPECT_NE(text.find("x[0,2] = inf\n"), std::string::npos);
  EXPECT_NE(text.find("x lines 0..2 step 2 = zero()\n"), std::string::npos);
}

TEST(CaseText, odd_texts_are_quoted) {
  Case c = parsed(example);
  for (const char* odd : {" leading", "trailing ", "\"quoted\"", "#hash", "new\nline", "tab\there",
                          "back\\slash", "\x7f", "carriage\r", "\xc3\xa9"}) {
    c.manifest = odd;
    c.tolerance.evidence = odd;
    c.expect.signature = odd;
    EXPECT_EQ(parsed(to_text(c)), c) << odd;
  }
}

TEST(CaseText, a_byte_order_mark_does_not_matter) {
  EXPECT_EQ(parsed("\xef\xbb\xbf" + std::string(example)), parsed(example));
  EXPECT_EQ(to_string(parse_case("\xef\xbb\xbf\xef\xbb\xbf", "a.case").error()).substr(0, 9), "a.case:1:");
}

TEST(CaseText, line_ends_and_order_do_not_matter) {
  std::string dos;
  for (const char ch : example) dos += ch == '\n' ? std::string("\r\n") : std::string(1, ch);
  EXPECT_EQ(parsed(dos), parsed(example));
  const Case one =
      parsed("assay-case 1\ndtype = f16\nkernel = k\n[inputs]\nx = zero()\nx[0] = 1\n[dims]\nn = 1\n");
  const Case other =
      parsed("assay-case 1\nkernel=k\n  dtype = f16\n[dims]\nn=1\n\n[inputs]\nx=zero()\nx[ 0 ]=1.0");
  EXPECT_EQ(one, other);
  EXPECT_EQ(one.inputs[0].overrides[0].bits, 0x3c00u);
}

TEST(CaseText, values_keep_their_bits_in_every_type) {
  for (const DType type : {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::i8, DType::u8}) {
    const std::uint64_t count = std::uint64_t{1} << (8 * size_of(type));
    for (std::uint64_t bits = 0; bits < count; ++bits)
      ASSERT_EQ(parse_value(type, value_text(type, bits)), bits)
          << name_of(type) << " " << value_text(type, bits);
  }
  std::uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    for (const DType type : {DType::f32, DType::f64, DType::i32, DType::i64}) {
      const std::uint64_t bits = size_of(type) == 4 ? state >> 32 : state;
      ASSERT_EQ(parse_value(type, value_text(type, bits)), bits) << name_of(type) << " " << bits;
    }
  }
}

TEST(CaseText, values_are_as_short_as_they_can_be) {
  EXPECT_EQ(value_text(DType::f16, to_bits(DType::f16, 0.1)), "0.1");
  EXPECT_EQ(value_text(DType::f32, to_bits(DType::f32, 0.1)), "0.1");
  EXPECT_EQ(value_text(DType::f64, to_bits(DType::f64, 0.1)), "0.1");
  EXPECT_EQ(value_text(DType::bf16, to_bits(DType::bf16, 3e38)), "3e+38");
  EXPECT_EQ(value_text(DType::f32, 1), "1e-45");
  EXPECT_EQ(value_text(DType::f32, 0x80000000), "-0");
  EXPECT_EQ(value_text(DType::f32, 0x7f800000), "inf");
  EXPECT_EQ(value_text(DType::f32, 0x7fc00001), "nan(0x7fc00001)");
  EXPECT_EQ(value_text(DType::i8, 0xff), "-1");
  EXPECT_EQ(value_text(DType::u8, 0xff), "255");
}

TEST(CaseText, values_that_a_type_does_not_have) {
  for (const auto& [type, text] : {std::pair(DType::f16, "65520"),
                                   {DType::f16, "1e9"},
                                   {DType::f32, "1e39"},
                                   {DType::f8e4m3, "464"},
                                   {DType::f8e4m3, "inf"},
                                   {DType::i8, "128"},
                                   {DType::u8, "-1"},
                                   {DType::u8, "256"},
                                   {DType::i32, "1.5"},
                                   {DType::i32, "nan"},
                                   {DType::f32, "nan(0x1)"},
                                   {DType::f16, "bits(0x10000)"},
                                   {DType::f32, ""},
                                   {DType::f32, "1 2"},
                                   {DType::f32, "0x10"},
                                   {DType::i64, "9223372036854775808"}})
    EXPECT_EQ(parse_value(type, text), std::nullopt) << name_of(type) << " " << text;
  EXPECT_EQ(parse_value(DType::f16, "65519"), 0x7bffu); // still nearer to 65504
  EXPECT_EQ(parse_value(DType::f8e4m3, "463"), 0x7eu);  // still nearer to 448
}

TEST(CaseText, every_malformed_case_names_its_line) {
  struct Fault {
    const char* line; // of the example, replaced by:
    const char* with;
    const char* message;
    int at = 0;
  };
  const Fault faults[] = {
      {"assay-case 1", "assay-case 2", "the first line must be \"assay-case 1\", not \"assay-case 2\""},
      {"kernel", "", "the case ends without a line \"kernel = ...\"", 36},
      {"kernel", "kernel =", "a value is missing after \"=\""},
      {"kernel", "kernel = \"\"", "the kernel's name is empty"},
      {"kernel", "kernel = \"x", "the quoted text must end at the end of the line"},
      {"kernel", "kernel = \"x\" y", "the quoted text must end at the end of the line"},
      {"kernel", "kernel = \"\\q\"", "a backslash in quotes must be \\\", \\\\ or \\xHH"},
      {"source", "colour = blue",
       "unknown key \"colour\"; there are kernel, source, dtype, pass, schedule and expect"},
      {"source", "nonsense", "\"nonsense\" where a line \"name = value\" was expected"},
      {"source", "dtype = f32\ndtype = f16", "dtype was already given on line 4", 5},
      {"dtype", "dtype = f33", "unknown dtype \"f33\"; there are f64, f32, f16, bf16, f8e4m3 and f8e5m2"},
      {"dtype", "dtype = i32", "unknown dtype \"i32\"; there are f64, f32, f16, bf16, f8e4m3 and f8e5m2"},
      {"pass", "pass = sideways", "pass must be forward or backward, not \"sideways\""},
      {"schedule", "schedule = -1", "schedule must be an integer from 0 to 2^64-1, not \"-1\""},
      {"expect", "expect = maybe", "expect must be \"pass\" or \"fail SIGNATURE\", not \"maybe\""},
      {"expect", "expect = fail \"\"", "the expected signature is empty"},
      {"[dims]", "[dimz]",
       "unknown section \"[dimz]\"; there are [dims], [params], [inputs] and [tolerance]"},
      {"rows", "rows = -4", "dim rows must be an integer from 0 to 2^40, not \"-4\""},
      {"rows", "rows = 1.5", "dim rows must be an integer from 0 to 2^40, not \"1.5\""},
      {"rows", "rows = 99999999999999999999",
       "dim rows must be an integer from 0 to 2^40, not \"99999999999999999999\""},
      {"rows", "rows = 2000000000000", "dim rows must be an integer from 0 to 2^40, not \"2000000000000\""},
      {"rows", "ro ws = 4", "\"ro ws\" must be a name: letters, digits and '_', at most 64, no digit first"},
      {"rows", "rows = 4\nrows = 5", "dims.rows was already given on line 11", 12},
      {"eps", "eps = nan", "eps must be a finite number, not \"nan\""},
      {"eps", "eps = small", "eps must be a finite number, not \"small\""},
      {"x = ", "x = gauss()", "unknown distribution \"gauss\"; there are "},
      {"x = ", "x = normal(mean=0, stddev=1) seed -7",
       "\"seed -7\" where \"seed\" and an integer from 0 to 2^64-1 were expected"},
      {"x = ", "x = normal(mean=0, stddev=1) 7",
       "\"7\" where \"seed\" and an integer from 0 to 2^64-1 were expected"},
      {"x = ", "x = 7", "\"7\" where a distribution such as normal(mean=0, stddev=1) was expected"},
      {"x = ", "", "\"x lines 3..3\" comes before the line \"x = ...\"", 19},
      {"x = ", "x: f31 = zero()", "unknown type \"f31\""},
      {"x lines 3", "x lines 3 = zero()", "\"lines 3\" must be \"lines FIRST..LAST\" or"},
      {"x lines 3", "x lines 3..2 = zero()", "\"lines 3..2\" must be \"lines FIRST..LAST\" or"},
      {"x lines 3", "x lines 0..3 step 2 = zero()", "\"lines 0..3 step 2\" must be \"lines FIRST..LAST\" or"},
      {"x lines 3", "x lines 0..3 step 0 = zero()", "\"lines 0..3 step 0\" must be \"lines FIRST..LAST\" or"},
      {"x strides", "x strides = 0, 1", "a stride must be an integer from 1 to 2^40, not \"0\""},
      {"x strides", "x strides = ", "strides is empty"},
      {"x strides", "x strides = 1,2,3,4,5,6,7,8,9", "more than 8 strides"},
      {"x offset", "x offset = -1", "offset must be an integer from 0 to 2^40, not \"-1\""},
      {"x offset", "x colour = 1",
       "\"x colour\" must be NAME, NAME: TYPE, NAME lines A..B, NAME strides, NAME offset or NAME[i,j]"},
      {"x[2,17]", "x[2,17 = 3", "\"[2,17\" lacks its closing bracket"},
      {"x[2,17]", "x[2,-1] = 3", "an index must be an integer from 0 to 2^40, not \"-1\""},
      {"x[2,17]", "x[] = 3", "an index must be an integer from 0 to 2^40, not \"\""},
      {"x[2,17]", "x[2,17] = 1e6", "\"1e6\" is not a value of f16"},
      {"x[2,17]", "x[2,17] = many", "\"many\" is not a value of f16"},
      {"index[2]", "index[2] = 1.5", "\"1.5\" is not a value of i32"},
      {"fudge", "fudge = 0", "fudge = 0 must be larger than 0"},
      {"fudge", "fudge = inf", "fudge must be a finite number, not \"inf\""},
      {"fudge", "rtol = 1", "unknown tolerance \"rtol\"; there are fudge, atol,"},
      {"atol", "atol = -1", "atol = -1 must be at least 0"},
      {"evidence", "", "max_ulp needs a line \"evidence = ...\"", 34},
      {"flush", "flush_subnormals = yes", "flush_subnormals must be true or false, not \"yes\""},
  };
  for (const Fault& fault : faults) {
    std::string text;
    int number = 0, line = 0;
    std::string_view rest = example;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      const std::string_view original = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      ++number;
      const bool here = line == 0 && original.starts_with(fault.line);
      if (here) line = number;
      text += here ? std::string(fault.with) : std::string(original);
      text += '\n';
    }
    ASSERT_NE(line, 0) << fault.line;
    const auto c = parse_case(text, "a.case");
    ASSERT_FALSE(c.has_value()) << fault.with << " is accepted";
    EXPECT_EQ(c.error().kind, ErrorKind::user);
    EXPECT_EQ(c.error().place.file, "a.case");
    EXPECT_EQ(c.error().place.line, fault.at > 0 ? fault.at : line)
        << fault.with << ": " << to_string(c.error());
    EXPECT_TRUE(c.error().message.starts_with(fault.message)) << fault.with << ": " << to_string(c.error());
  }
}

TEST(CaseText, empty_and_huge_texts) {
  EXPECT_EQ(to_string(parse_case("", "a.case").error()), "a.case:1: the first line must be \"assay-case 1\"");
  EXPECT_NE(to_string(parse_case(std::string(2 << 20, 'x'), "a.case").error()).find("2097152 bytes"),
            std::string::npos);
  std::string many = "assay-case 1\nkernel = k\ndtype = f32\n[dims]\n";
  for (int i = 0; i < 65; ++i) many += fmt::format("d{} = 1\n", i);
  EXPECT_EQ(to_string(parse_case(many, "a.case").error()), "a.case:69: more than 64 dims");
}

// What a person wrote twice is a mistake; what a search gives twice, the last of it counts.
TEST(CaseText, an_element_is_given_once) {
  std::string twice(example);
  twice.insert(twice.find("index: i32"), "x[2, 17] = 5\n");
  const auto refused = parse_case(twice, "a.case");
  ASSERT_FALSE(refused);
  EXPECT_EQ(to_string(refused.error()), "a.case:27: x[2,17] was already given on line 23");
  Case c = parsed(example);
  const Case once = c;
  ElementOverride first = c.inputs[0].overrides[0];
  first.bits = 1;
  c.inputs[0].overrides.insert(c.inputs[0].overrides.begin(), first);
  EXPECT_EQ(to_text(c), to_text(once));
}

} // namespace
} // namespace assay
