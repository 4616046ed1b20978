#include "harness/compile/nvrtc_log.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

std::string first(std::string_view log) { return to_string(first_error(log, "k.cu")); }

TEST(NvrtcLog, WarningsBeforeTheErrorArePassedOver) {
  EXPECT_EQ(first("a.cu(1): warning #177-D: variable \"v\" was declared but never referenced\n"
                  "  int v;\n      ^\n\n"
                  "dir/b.h(12): error: identifier \"y\" is undefined\n"
                  "    x[0] = y;\n           ^\n\n1 error detected in the compilation of \"a.cu\".\n"),
            "dir/b.h:12:10: identifier \"y\" is undefined");
}

TEST(NvrtcLog, ExplanationsMayStandBeforeTheCaret) {
  EXPECT_EQ(first("a.cu(3): error: more than one instance of overloaded function \"sqrt\" matches the "
                  "argument list:\n"
                  "            function \"sqrt(float)\" (declared implicitly)\n"
                  "            argument types are: (int)\n"
                  "  sqrt(2);\n  ^\n\n"),
            "a.cu:3:1: more than one instance of overloaded function \"sqrt\" matches the argument list:");
}

TEST(NvrtcLog, CatastrophicAndNumberedErrors) {
  EXPECT_EQ(first("a.cu(2): catastrophic error: cannot open source file \"n.h\"\n  #include \"n.h\"\n        "
                  "          ^\n"),
            "a.cu:2:17: cannot open source file \"n.h\"");
  EXPECT_EQ(first("a.cu(2): error #177-D: unused\n"), "a.cu:2: unused");
}

TEST(NvrtcLog, FileNamesMayHoldSpacesAndParentheses) {
  EXPECT_EQ(first("my dir/a (3).cu(7): error: bad\n"), "my dir/a (3).cu:7: bad");
}

TEST(NvrtcLog, NameExpressions) {
  EXPECT_EQ(
      first("__nv_name_map(3): error: identifier \"kk\" is undefined\n  #pragma nv_mangled_name kk<float>\n"
            "                          ^\n"),
      "k.cu: no kernel 'kk<float>': identifier \"kk\" is undefined");
}

TEST(NvrtcLog, OptionsAndTheUnexpected) {
  EXPECT_EQ(first("nvrtc: error: unrecognized option -foo found\n"),
            "k.cu: NVRTC does not take the options: unrecognized option -foo found");
  EXPECT_EQ(first(""), "k.cu: does not compile: (no log)");
  EXPECT_EQ(first("a.cu(): error: x"), "k.cu: does not compile: a.cu(): error: x");
}

} // namespace
} // namespace assay
