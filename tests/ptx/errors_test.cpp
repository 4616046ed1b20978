// Malformed or unsupported PTX: one line that says what and where, and the right kind of error.
#include "harness/base/files.h"
#include "harness/device/cpu/emit/compile.h"
#include "harness/device/cpu/ptx/catalogue.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace assay::cpu {
namespace {

Error error_of(const std::string& text, const std::string& origin = "k.ptx") {
  std::uint64_t slot = first_buffer_slot;
  const std::uint32_t no_hook = 0;
  EmitOptions options;
  options.reserve_slot = [&slot] { return slot++; };
  options.compare_enabled = &no_hook;
  const auto program = compile_ptx({text, origin, {}}, options);
  return program ? Error{ErrorKind::internal, "it compiled", {}} : program.error();
}

// The body begins on line 6.
Error error_in_body(const std::string& body, const std::string& before = "") {
  return error_of(".version 8.0\n.target sm_90\n.address_size 64\n" + before +
                  "\n.entry k(.param .u64 p) {\n" + body + "\n}\n");
}

// What ptxas 13.0 says of each for sm_90: "Arguments mismatch", or nothing.
constexpr const char* registers_of_all_types =
    ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .u32 %u<9>; .reg .f16 %h<4>; .reg .u16 %us<4>; "
    ".reg .b16 %bs<3>; .reg .f64 %d<3>; .reg .s32 %s<3>; .reg .f16x2 %hh<3>; .reg .u64 %ud<3>; .reg .pred "
    "%p<3>;";

struct Expectation {
  const char* body;
  ErrorKind kind;
  const char* message;
};

TEST(Errors, InABodyNameTheLine) {
  const Expectation table[] = {
      {"wgmma.fence.sync.aligned;", ErrorKind::environment,
       "the CPU device does not support the instruction 'wgmma.fence.sync.aligned'"},
      {".reg .b32 %r<9>; mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r0}, {%r1}, {%r2}, {%r3};",
       ErrorKind::environment,
       "the CPU device does not support the instruction 'mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32'"},
      {".reg .b32 %r<9>; mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 %r0, %r1;",
       ErrorKind::environment, "'mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32'"},
      {".reg .b32 %r<9>; .reg .b64 %d; wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0, %r1}, [%d], 16;",
       ErrorKind::user, "operand 1 of 'wmma' needs 8 registers"},
      {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd1, {%f4, %f5}];", ErrorKind::environment,
       "the CPU device does not support the instruction 'tex.2d.v4.f32.f32'"},
      {".reg .f32 %f<3>; add.s32.f32 %f0, %f1, %f2;", ErrorKind::environment, "'add.s32.f32'"},
      {".reg .f32 %f<3>; add.f32 %f0, %f1;", ErrorKind::user, "'add.f32' does not take 2 operands"},
      {"add.s32 %r1, %r2, %r3;", ErrorKind::user, "register '%r1' is not declared"},
      {".reg .b32 %r<2>; mov.u32 %r0, %r2;", ErrorKind::user, "register '%r2' is not declared"},
      {".reg .b32 %r<2>; .reg .b32 %r<3>;", ErrorKind::user, "'%r' is declared twice"},
      {"bra nowhere;", ErrorKind::user, "label 'nowhere' is not defined"},
      {"bra 3;", ErrorKind::user, "bra needs a label"},
      {"a: ret; a: ret;", ErrorKind::user, "label 'a' is defined twice"},
      {".reg .b32 %r<2>; .reg .b64 %d; mov.u64 %d, %r1;", ErrorKind::user,
       "a register of type .b32 cannot be an operand of type .u64 of 'mov'"},
      {".reg .b16 %h; mov.u32 %h, 1;", ErrorKind::user,
       "a result of type .u32 of 'mov' does not fit a register of type .b16"},
      {".reg .pred %p; .reg .b32 %r; add.u32 %r, %p, 1;", ErrorKind::user,
       "mixes predicate and value registers"},
      {".reg .b32 %r; @%r ret;", ErrorKind::user, "'%r' is not a predicate register"},
      {".reg .b32 %r; ld.global.u32 %r, %r;", ErrorKind::user, "needs an address in brackets"},
      {".reg .b32 %r; ld.global.v2.u32 %r, [p];", ErrorKind::user, "loads 2 elements into 1 registers"},
      {".reg .b32 %r; ld.global.u32 %r, [elsewhere];", ErrorKind::user, "'elsewhere' is not declared"},
      {"call nothing;", ErrorKind::user, "function 'nothing' is not declared"},
      {".reg .b32 %r; mov.u32 %r, %clusterid.x;", ErrorKind::environment, "special register '%clusterid.x'"},
      {".reg .b32 %r; mov.u32 %r, 0x1g;", ErrorKind::user, "malformed integer literal"},
      {".reg .b32 %r; mov.u32 %r, 99999999999999999999;", ErrorKind::user, "too large integer literal"},
      {".reg .f32 %f; mov.f32 %f, 0f3F80;", ErrorKind::user, "8 hexadecimal digits"},
      {".reg .b32 %r; mov.u32 %r, 1", ErrorKind::user, "expected ';' but found '}'"},
      {"ret; #", ErrorKind::user, "unexpected character '#'"},
      {".shared .b8 huge[8589934592];", ErrorKind::user, "larger than 4 GB"},
      {".reg .b32 %r<2000000>;", ErrorKind::user, "more than 1048576 registers"},
      {"/* never closed", ErrorKind::user, "comment never closes"},
      {".pragma \"never closed", ErrorKind::user, "string never closes"},
  };
  for (const Expectation& row : table) {
    const Error error = error_in_body(row.body);
    EXPECT_EQ(error.kind, row.kind) << row.body << ": " << error.message;
    EXPECT_THAT(error.message, testing::HasSubstr(row.message)) << row.body;
    EXPECT_EQ(error.message.find('\n'), std::string::npos) << row.body;
    EXPECT_EQ(error.place.file, "k.ptx") << row.body;
    EXPECT_GE(error.place.line, 6) << row.body;
    EXPECT_LE(error.place.line, 7) << row.body;
  }
}

TEST(Errors, RegistersMustGoWithTheInstructionsTypes) {
  for (const char* wrong : {"add.f32 %u1, %u2, %f1;",
                            "add.s32 %f1, %f2, %f3;",
                            "add.f16 %bs1, %us1, %us1;",
                            "mov.u32 %r1, %rd1;",
                            "mov.f32 %f1, %u1;",
                            "mov.u32 %r1, %f1;",
                            "setp.eq.f32 %p1, %u1, %f1;",
                            "setp.eq.s32 %p1, %f1, %f1;",
                            "ld.global.f32 %u1, [%rd1];",
                            "ld.global.u32 %f1, [%rd1];",
                            "st.global.u32 [%rd1], %f1;",
                            "st.global.f32 [%rd1], %u1;",
                            "selp.f32 %f1, %u1, %f2, %p1;",
                            "selp.u32 %f1, %u1, %u2, %p1;",
                            "shl.b32 %r1, %r2, %rd1;",
                            "shr.s32 %f1, %f2, %r1;",
                            "bfe.u32 %r1, %r2, %rd1, %r3;",
                            "popc.b64 %rd1, %rd2;",
                            "atom.global.add.f32 %u1, [%rd1], %f1;",
                            "atom.global.add.u32 %f1, [%rd1], %f1;",
                            "mul.wide.u32 %rd1, %f1, %r1;",
                            "add.f32 %f1, %rd1, %rd2;",
                            "add.f64 %d1, %f1, %f2;",
                            "fma.rn.f64 %rd1, %rd2, %d1, %ud1;",
                            "min.u32 %r1, %f1, %r2;",
                            "ld.global.u8 %f1, [%rd1];",
                            "add.u16 %bs1, %r1, %r2;",
                            "mov.u32 %r1, %bs1;",
                            "cvt.s32.s16 %r1, %u2; add.f32 %f1, %f2, 1;",
                            "add.s32 %r1, %r2, 0f3f800000;",
                            "mov.f32 %f1, 5;"}) {
    const Error error = error_in_body(std::string(registers_of_all_types) + "\n" + wrong);
    EXPECT_EQ(error.kind, ErrorKind::user) << wrong << ": " << error.message;
    EXPECT_EQ(error.place.line, 7) << wrong << ": " << error.message;
  }
  for (const char* right :
       {"add.f32 %f1, %r1, %r2;", "add.s32 %u1, %s1, %r1;", "add.f16 %bs1, %bs1, %h1;",
        "add.f16x2 %hh1, %r1, %r1;", "mov.b32 %r1, %f1;", "and.b32 %f1, %f2, %r1;",
        "ld.global.u32 %rd2, [%rd1];", "ld.global.f32 %rd2, [%rd1];", "st.global.u32 [%rd1], %rd1;",
        "cvt.u32.u64 %rd1, %rd2;", "shl.b32 %f1, %f2, %r1;", "ex2.approx.f32 %r1, %r2;",
        "ld.global.u8 %r1, [%rd1];", "selp.b32 %f1, %u1, %f2, %p1;", "and.b32 %r1, %r2, 0x1ffffffff;",
        "mov.b32 %r1, 0f3f800000;", "mov.b32 %r1, 1065353216; add.f32 %f1, %r1, %f2;"}) {
    const Error error = error_in_body(std::string(registers_of_all_types) + "\n" + right);
    EXPECT_EQ(error.message, "it compiled") << right;
  }
}

// The instruction stands on line 10.
Error unsupported_after(const std::string& loc, const std::string& file, const std::string& origin) {
  return error_of(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry a() {\n.loc 1 99 1\nret;\n}\n"
      ".visible .entry k() {\n" +
          loc + "\nwgmma.fence.sync.aligned;\n}\n.file 1 \"" + file + "\"\n.file 2 \"other.cuh\"\n",
      origin);
}

TEST(Errors, OfASourceThatIsNoPtxNameItsLineWhereThePtxHasIt) {
  const Error told = unsupported_after(".loc 1 15 3", "./d/k.cu", "d/k.cu");
  EXPECT_EQ(told.kind, ErrorKind::environment);
  EXPECT_EQ(told.place, (Place{"d/k.cu", 15, 0}));
  EXPECT_EQ(told.message,
            "the CPU device does not support the instruction 'wgmma.fence.sync.aligned' (line 10 of "
            "its PTX)");
  for (const char* loc : {"", ".loc 1 0 0", ".loc 2 15 3", ".loc 3 15 3", ".loc 1 15 3\n.loc 1 0 0"}) {
    const Error untold = unsupported_after(loc, "d/k.cu", "d/k.cu");
    EXPECT_EQ(untold.place, (Place{"d/k.cu's PTX", std::string_view(loc).contains('\n') ? 11 : 10, 0}))
        << loc;
    EXPECT_EQ(untold.message, "the CPU device does not support the instruction 'wgmma.fence.sync.aligned'");
  }
  EXPECT_EQ(unsupported_after(".loc 1 15 3", "k.cu", "k.ptx").place, (Place{"k.ptx", 10, 0}));
}

TEST(Errors, OfATargetOrVersionNameTheRange) {
  const auto told = [](const std::string& version, const std::string& target) {
    return to_string(error_of(".version " + version + "\n.target " + target + "\n.address_size 64\n"));
  };
  for (const char* target : {"sm_9999", "sm_20", "sm_", "sm_90z", "compute_90", "sm_99999999999999999999"})
    EXPECT_EQ(told("8.0", target),
              fmt::format("k.ptx:2: target '{}' is not supported: sm_30 to sm_129 are", target));
  for (const char* version : {"99.9", "2.3", "8", "0.0", "10.0", "8.10"})
    EXPECT_EQ(told(version, "sm_90"),
              fmt::format("k.ptx:1: PTX version {} is not supported: 3.0 to 9.9 are", version));
  for (const char* target : {"sm_30", "sm_90", "sm_90a", "sm_120f", "sm_121a"})
    EXPECT_EQ(told("9.2", target), "it compiled");
}

TEST(Errors, OfAModule) {
  EXPECT_THAT(error_of("").message, testing::HasSubstr("expected '.version'"));
  EXPECT_THAT(error_of("int main() {}").message, testing::HasSubstr("expected '.version'"));
  EXPECT_THAT(error_of(".version 8.0\n.target sm_90\n.address_size 32").message,
              testing::HasSubstr("it must be 64"));
  EXPECT_THAT(error_of(".version 8.0\n.target sm_90\n.address_size 64\n.entry k(").message,
              testing::HasSubstr("the text ends"));
  EXPECT_THAT(error_in_body("ret;", ".entry k() { ret; }").message, testing::HasSubstr("defined twice"));
  EXPECT_THAT(error_in_body("ret;", ".global .b8 a; .global .b8 a;").message,
              testing::HasSubstr("defined twice"));
  EXPECT_THAT(error_in_body("ret;", ".global .b32 a[1] = {1, 2};").message,
              testing::HasSubstr("longer than its 4 bytes"));
}

TEST(Catalogue, IsTheDocumentedTableAndHasNoDuplicates) {
  std::vector<std::string> lines;
  for (const ptx::Form& form : ptx::supported_forms()) lines.push_back(to_string(form));
  EXPECT_THAT(lines, testing::Contains("add.sat.s32"));
  EXPECT_THAT(lines, testing::Contains("fma.rn|.rz|.rm|.rp{.ftz}{.sat}.f32"));
  const auto table = read_file("harness/device/cpu/instructions.txt");
  ASSERT_TRUE(table) << to_string(table.error());
  EXPECT_EQ(fmt::format("{}\n", fmt::join(lines, "\n")), *table)
      << "make it anew: ptx_tool --table > harness/device/cpu/instructions.txt";
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(std::adjacent_find(lines.begin(), lines.end()), lines.end());
}

} // namespace
} // namespace assay::cpu
