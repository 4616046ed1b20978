// Which programs may leave something in variables of their module.
#include "harness/compile/module_state.h"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n\n\t// .globl k\n";

// A kernel of these instructions, over a counter and a table.
bool keeps(const std::string& body, const std::string& more = "") {
  return keeps_state(
      head +
      ".visible .global .align 4 .u32 count;\n.global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n" +
      more + ".visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n\t.reg .b64 %rd<9>;\n" + body +
      "\tret;\n}\n");
}

TEST(ModuleState, VariablesThatNobodyNamesOrThatAreOnlyLoaded) {
  EXPECT_FALSE(keeps_state(""));
  EXPECT_FALSE(keeps_state(head + ".visible .entry k()\n{\n\tst.global.u32 [%rd1], %r1;\n}\n"));
  EXPECT_FALSE(keeps(""));
  EXPECT_FALSE(keeps("\tld.global.u32 %r1, [count];\n\tst.global.u32 [%rd1], %r1;\n"));
  EXPECT_FALSE(keeps("\tmov.u64 %rd2, table;\n\tadd.s64 %rd3, %rd2, %rd4;\n\tld.global.nc.u8 %r1, "
                     "[%rd3+4];\n\tst.global.u32 [%rd1], %r1;\n"));
  EXPECT_FALSE(keeps("\tcvta.global.u64 %rd2, %rd1;\n\tatom.global.add.u32 %r1, [%rd2], 1;\n"));
}

TEST(ModuleState, EveryWayToWrite) {
  EXPECT_TRUE(keeps("\tst.global.u32 [count], %r1;\n"));
  EXPECT_TRUE(keeps("\t@%p1 st.global.u32 [count+4], %r1;\n"));
  EXPECT_TRUE(keeps("$L_1: atom.global.inc.u32 %r1, [count], %r2;\n"));
  EXPECT_TRUE(keeps("\t.loc\t1 5 3\n\tred.global.add.u32 [count], 1;\n"));
  EXPECT_TRUE(keeps("\tmov.u64 %rd2, count;\n\tst.global.u32 [%rd2], %r1;\n"));
  EXPECT_TRUE(
      keeps("\tmov.u64 %rd2, count;\n\t{\n\tcvta.global.u64 %rd3, %rd2;\n\tst.u32 [%rd3+8], %r1;\n\t}\n"));
  EXPECT_TRUE(keeps(
      "\tselp.b64 %rd4, %rd3, %rd1, %p1;\n\tst.u32 [%rd4], %r1;\n\tmov.u64 %rd3, table;\n")); // in a loop
  EXPECT_TRUE(keeps("\tmov.b64 {%r4, %r5}, count;\n\tmov.b64 %rd7, {%r4, %r5};\n\tst.u32 [%rd7], %r1;\n"));
}

TEST(ModuleState, AnAddressThatIsPassedOnMayBeWrittenTo) {
  EXPECT_TRUE(keeps("\tmov.u64 %rd2, count;\n\tst.param.b64 [param0+0], %rd2;\n\tcall.uni f, (param0);\n"));
  EXPECT_TRUE(keeps("\tmov.u64 %rd2, count;\n\tst.global.u64 [%rd1], %rd2;\n"));
  EXPECT_TRUE(keeps("", ".global .align 8 .u64 pointer = generic(count);\n"));
}

TEST(ModuleState, TextThatOnlyLooksLikeIt) {
  EXPECT_FALSE(keeps("\t// st.global.u32 [count], %r1;\n\t/* st.global.u32 [count], %r1; */\n"));
  EXPECT_FALSE(keeps("\tst.global.u32 [counter], %r1;\n"));
  EXPECT_FALSE(keeps("\tmov.u64 %rd2, $str;\n\tst.param.b64 [param0+0], %rd2;\n",
                     ".global .align 1 .b8 $str[2] = {97, 0};\n"));
  EXPECT_FALSE(keeps("", ".file\t1 \"/tmp/a[1]=;count;{.cu\"\n.section .debug_info\n{\n.b64 count\n}\n"));
}

} // namespace
} // namespace assay
