// Every way in which a manifest can be wrong by its text alone, each with its exact line and message.
#include "harness/cases/manifest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

// A right manifest, a replacement of one of its lines, and what is said then.
struct Fault {
  const char* line; // the line of the right manifest that is replaced
  const char* with;
  const char* message; // after "kernel.toml:LINE:COLUMN: "
  int at = 0;          // where not the replaced line itself
};

constexpr const char* right[] = {
    R"(name = "good")",                                                // 1
    R"(op = "softmax")",                                               // 2
    R"(source = "k.cu")",                                              // 3
    R"(options = [])",                                                 // 4
    R"(dtypes = ["f32"])",                                             // 5
    R"([dims])",                                                       // 6
    R"(rows = { min = 1, max = 64 })",                                 // 7
    R"(cols = { min = 2, max = 64, near = [32], production = [48] })", // 8
    R"([let])",                                                        // 9
    "tiles = \"ceil_div(cols, 32)\"",                                  // 10
    R"([[launch]])",                                                   // 11
    R"(kernel = "k<${T}>")",                                           // 12
    R"(grid = ["rows"])",                                              // 13
    R"(block = ["64"])",                                               // 14
    R"(args = ["x", "y", "cols"])",                                    // 15
    R"([scratch])",                                                    // 16
    R"(partial = { shape = ["tiles"], dtype = "f32" })",               // 17
    R"([params])",                                                     // 18
    R"(eps = 1e-6)",                                                   // 19
    R"([layout])",                                                     // 20
    R"(x = "strided")",                                                // 21
    R"([tolerance])",                                                  // 22
    R"(fudge = 2.0)",                                                  // 23
};

std::string with_fault(const Fault& fault, int& line) {
  std::string text;
  line = 0;
  int number = 0;
  for (const char* original : right) {
    ++number;
    const bool here = std::string_view(original).starts_with(fault.line);
    if (here && line == 0) line = number;
    text += here && line == number ? fault.with : original;
    text += '\n';
  }
  return text;
}

TEST(ManifestErrors, the_right_one_is_right) {
  int line = 0;
  const auto m = parse_manifest(with_fault({"none", "", ""}, line), "kernel.toml");
  EXPECT_TRUE(m.has_value()) << to_string(m.error());
}

TEST(ManifestErrors, each_has_its_line_and_its_message) {
  const Fault faults[] = {
      {"name", "name = 3", "name must be a string, not an integer"},
      {"name", "name = \"a/b\"",
       "name \"a/b\" must be 1 to 100 letters, digits, '_', '-' or '.', and not start with '.'"},
      {"name", "nmae = \"x\"", "unknown key \"nmae\" in the manifest; there are "},
      {"name", "name = \"x", "", 1},
      {"op", "", "the manifest lacks the key \"op\"", -1},
      {"op", "op = \"soft max\"", "op \"soft max\" must be a built-in operator's name or a header (my_op.h)"},
      {"source", "", "the manifest lacks the key \"source\"", -1},
      {"source", "source = \"k.c\"", "source \"k.c\" must end in .cu, .ptx or .mlir"},
      {"options", "options = \"-G\"", "options must be a list, not a string"},
      {"options", "options = [\"\"]", "options has an empty string in it"},
      {"options", "options = [1]", "options must be a string, not an integer"},
      {"options", "include = [true]", "include must be a string, not a boolean"},
      {"options", "deterministic = 1", "deterministic must be true or false, not an integer"},
      {"options", "flush_subnormals = \"yes\"", "flush_subnormals must be true or false, not a string"},
      {"dtypes", "", "the manifest lacks the key \"dtypes\"", -1},
      {"dtypes", "dtypes = []", "dtypes is empty; name at least one type"},
      {"dtypes", "dtypes = \"f32\"", "dtypes must be a list, not a string"},
      {"dtypes", "dtypes = [\"f31\"]",
       "unknown dtype \"f31\"; there are f64, f32, f16, bf16, f8e4m3 and f8e5m2"},
      {"dtypes", "dtypes = [\"i32\"]",
       "unknown dtype \"i32\"; there are f64, f32, f16, bf16, f8e4m3 and f8e5m2"},
      {"dtypes", "dtypes = [\"f32\", \"f32\"]", "dtype f32 is named twice"},
      {"rows", "rows = { min = 5, max = 4 }", "dim rows: min = 5 is larger than max = 4"},
      {"rows", "rows = { min = -1, max = 4 }", "dim rows: min = -1 is negative"},
      {"rows", "rows = -3", "dim rows: min = -3 is negative"},
      {"rows", "rows = { min = 1, max = 2000000000000 }",
       "dim rows: max = 2000000000000 is larger than 2^40"},
      {"rows", "rows = { min = 1, max = 9, multiple_of = 0 }",
       "dim rows: multiple_of = 0 must be at least 1"},
      {"rows", "rows = { min = 1, max = 9, multiple_of = -2 }",
       "dim rows: multiple_of = -2 must be at least 1"},
      {"rows", "rows = { min = 9, max = 15, multiple_of = 8 }",
       "dim rows: no multiple of 8 lies from 9 to 15"},
      {"rows", "rows = { min = 1 }", "dim rows lacks the key \"max\""},
      {"rows", "rows = { min = 1, max = 2.5 }", "max must be an integer, not a number"},
      {"rows", "rows = { min = 1, max = 9, nears = [3] }", "unknown key \"nears\" in dim rows; there are "},
      {"rows", "rows = { min = 1, max = 9, near = [0] }", "dim rows: near = 0 must be from 1 to 2^40"},
      {"rows", "rows = { min = 1, max = 9, near = 3 }", "near must be a list, not an integer"},
      {"rows", "rows = { min = 1, max = 9, production = [10] }",
       "dim rows: production = 10 is not a multiple of 1 from 1 to 9"},
      {"rows", "rows = \"4\"", "dim rows must be an integer or { min = ..., max = ... }, not a string"},
      {"rows", "\"ro ws\" = 4",
       "dim \"ro ws\" must be a name: letters, digits and '_', at most 64, no digit first"},
      {"rows", "rows = 1\nrows = 2", "", 8},
      {"[dims]", "[dimz]", "the manifest lacks the key \"dims\"", -1},
      {"tiles", "tiles = 3", "let tiles must be an expression in a string, such as \"64\", not an integer"},
      {"tiles", "tiles = \"colz + 1\"", "let tiles: \"colz\" is neither a dim nor a let defined above"},
      {"tiles", "tiles = \"tiles + 1\"", "let tiles: \"tiles\" is neither a dim nor a let defined above"},
      {"tiles", "tiles = \"1 +\"",
       "expression \"1 +\", column 4: ends where a number, a name or '(' was expected"},
      {"tiles", "rows = \"3\"", "let \"rows\" has the name of a dim"},
      {"tiles", "T = \"3\"", "let \"T\" is a reserved name"},
      {"kernel", "kernel = \"\"", "kernel is empty"},
      {"kernel", "", "[[launch]] lacks the key \"kernel\"", 11},
      {"kernel", "kernel = \"k<${t}>\"", "kernel \"k<${t}>\": ${t} is neither T nor a dim nor a let"},
      {"kernel", "kernel = \"k<${T>\"", "kernel \"k<${T>\" has a ${ without }"},
      {"kernel", "pass = \"sideways\"\nkernel = \"k\"",
       "pass must be \"forward\" or \"backward\", not \"sideways\""},
      {"kernel", "pass = \"backward\"\nkernel = \"k\"",
       "no [[launch]] has pass = \"forward\"; backward runs after it", 11},
      {"kernel", "kernels = \"k\"\nkernel = \"k\"", "unknown key \"kernels\" in [[launch]]; there are "},
      {"grid", "grid = \"rows\"", "grid must be a list, not a string"},
      {"grid", "grid = []", "grid must have 1 to 3 expressions, not 0"},
      {"grid", "grid = [\"1\", \"1\", \"1\", \"1\"]", "grid must have 1 to 3 expressions, not 4"},
      {"grid", "grid = [1]", "grid must be an expression in a string, such as \"64\", not an integer"},
      {"grid", "grid = [\"depth\"]", "grid: \"depth\" is neither a dim nor a let defined above"},
      {"block", "block = [\"64 threads\"]",
       "expression \"64 threads\", column 4: 't' where an operator or the end was expected"},
      {"args", "", "[[launch]] lacks the key \"args\"", 11},
      {"args", "args = [3]", "an argument must be a string, not an integer"},
      {"args", "args = [\"memref:\"]",
       "argument \"memref:\" must be NAME, NAME:i32, NAME:i64, NAME.stride(i), memref:NAME, 0 or null"},
      {"args", "args = [\"x.stride(9)\"]",
       "argument \"x.stride(9)\" must be NAME, NAME:i32, NAME:i64, NAME.stride(i), memref:NAME, 0 or null"},
      {"args", "args = [\"x + 1\"]",
       "argument \"x + 1\" must be NAME, NAME:i32, NAME:i64, NAME.stride(i), memref:NAME, 0 or null"},
      {"args", "args = [\"cols:f32\"]",
       "argument \"cols:f32\" must be NAME, NAME:i32, NAME:i64, NAME.stride(i), memref:NAME, 0 or null"},
      {"args", "args = [\"x:i64\"]",
       "argument \"x:i64\": only dims, lets and strides have a width, and x is none"},
      {"args", "args = [\"x.stride(0):f32\"]",
       "argument \"x.stride(0):f32\" must be NAME, NAME:i32, NAME:i64, NAME.stride(i), memref:NAME, 0 or "
       "null"},
      {"args", "args = [\"1\"]",
       "argument \"1\" must be NAME, NAME:i32, NAME:i64, NAME.stride(i), memref:NAME, 0 or null"},
      {"partial", "partial = { shape = [\"tiles\"] }", "scratch partial lacks the key \"dtype\""},
      {"partial", "partial = { shape = [\"tiles\"], dtype = \"f8e4m3\" }",
       "unknown scratch dtype \"f8e4m3\"; there are T, f64, f32, f16, bf16, i64, i32, i8 and u8"},
      {"partial", "partial = 3", "scratch partial must be a table, not an integer"},
      {"partial", "cols = { shape = [\"1\"], dtype = \"T\" }",
       "scratch buffer \"cols\" has the name of a dim"},
      {"eps", "eps = \"small\"", "param eps must be a number, not a string"},
      {"eps", "eps = nan", "param eps must be finite"},
      {"eps", "eps = []", "param eps has no value to choose from"},
      {"eps", "eps = [1, 1]", "param eps names 1 twice"},
      {"eps", "partial = 1", "param \"partial\" has the name of a scratch buffer"},
      {"x =", "x = \"sideways\"", "unknown layout \"sideways\"; there are strided, row_strided and offset"},
      {"x =", "x = []", "layout x is empty"},
      {"fudge", "fudge = 0", "fudge = 0 must be larger than 0"},
      {"fudge", "fudge = inf", "fudge must be finite"},
      {"fudge", "atol = -1e-9", "atol = -1e-09 must be at least 0"},
      {"fudge", "max_ulp = 2", "max_ulp needs evidence = \"...\": why the bound is right"},
      {"fudge", "max_ulp = 2\nevidence = \"\"", "max_ulp needs evidence = \"...\": why the bound is right"},
      {"fudge", "evidence = \"because\"", "evidence belongs to max_ulp, which is not there"},
      {"fudge", "rtol = 1", "unknown key \"rtol\" in [tolerance]; there are "},
  };
  for (const Fault& fault : faults) {
    int line = 0;
    const auto m = parse_manifest(with_fault(fault, line), "kernel.toml");
    ASSERT_NE(line, 0) << fault.line;
    ASSERT_FALSE(m.has_value()) << fault.with << " is accepted";
    EXPECT_EQ(m.error().kind, ErrorKind::user);
    if (fault.at > 0) line = fault.at;
    if (fault.at >= 0) {
      EXPECT_EQ(m.error().place.line, line) << fault.with << ": " << to_string(m.error());
    }
    EXPECT_EQ(m.error().place.file, "kernel.toml");
    EXPECT_TRUE(m.error().message.starts_with(fault.message)) << fault.with << ": " << to_string(m.error());
    EXPECT_EQ(m.error().message.find('\n'), std::string::npos);
  }
}

TEST(ManifestErrors, one_that_is_too_large_or_no_toml) {
  EXPECT_EQ(to_string(parse_manifest(std::string((64 << 10) + 1, ' '), "kernel.toml").error()),
            "kernel.toml: a manifest of 65537 bytes; at most 65536 are allowed");
  EXPECT_FALSE(parse_manifest("\xff\xfe", "kernel.toml").has_value());
  EXPECT_FALSE(parse_manifest(std::string(5000, '['), "kernel.toml").has_value());
  EXPECT_FALSE(parse_manifest("", "kernel.toml").has_value());
  // Two texts that break toml++'s own assumptions (toml_reader.h).
  EXPECT_FALSE(parse_manifest("[\x01", "kernel.toml").has_value());
  EXPECT_FALSE(parse_manifest("\xef\xbb\xbenf", "kernel.toml").has_value());
  EXPECT_FALSE(parse_manifest("\xc3\xa9 = 1", "kernel.toml").has_value());
  EXPECT_FALSE(
      parse_manifest("launch = 3\nop=\"a\"\nsource=\"a.cu\"\ndtypes=[\"f32\"]\ndims={n=1}", "kernel.toml")
          .has_value());
}

std::string nested(std::size_t parts) {
  std::string key = "a";
  for (std::size_t i = 1; i < parts; ++i) key += ".a";
  return key;
}

// toml++ recurses over the parts of a dotted key where it frees the tables.
TEST(ManifestErrors, tables_nested_without_end) {
  for (const std::size_t parts : {std::size_t{32000}, std::size_t{100000}, std::size_t{500000}}) {
    const std::string key = nested(parts);
    for (const std::string& text :
         {"[" + key + "]\n", key + " = 1\n", "[[" + key + "]]\n", "x = {" + key + " = 1}\n"}) {
      const auto m = parse_manifest(text, "kernel.toml");
      ASSERT_FALSE(m.has_value());
      EXPECT_EQ(m.error().kind, ErrorKind::user);
      EXPECT_EQ(m.error().message.find('\n'), std::string::npos);
      EXPECT_LT(m.error().message.size(), 200u);
    }
  }
}

} // namespace
} // namespace assay
