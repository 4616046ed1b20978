// NVRTC itself: names, errors and their places, options, what the PTX says about its source.
#include "harness/compile/compile.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <sys/stat.h>

namespace assay {
namespace {

using testing::HasSubstr;

Result<PtxSource> compile_text(const std::string& text, std::vector<std::string> names = {},
                               std::vector<std::string> options = {}, CompileReport* report = nullptr) {
  return compile({"somewhere/k.cu", text, std::move(names), {}, std::move(options), "compute_90"}, {},
                 report);
}

constexpr const char* scale =
    "#include <cuda_fp16.h>\n"
    "template <class T, int N> __global__ void scale(T* x) { x[0] = T(float(x[0]) * N); }\n";

TEST(Compile, TemplatesGetTheirMangledNames) {
  const Result<PtxSource> ptx = compile_text(scale, {"scale<float, 2>", "scale<__half,3>"});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
  EXPECT_EQ(ptx->entries.at("scale<float, 2>"), "_Z5scaleIfLi2EEvPT_");
  EXPECT_EQ(ptx->entries.at("scale<__half,3>"), "_Z5scaleI6__halfLi3EEvPT_");
  EXPECT_THAT(ptx->text, HasSubstr(".entry _Z5scaleIfLi2EEvPT_("));
  EXPECT_THAT(ptx->text, HasSubstr(".target sm_90"));
}

TEST(Compile, ExternCKernelsKeepTheirName) {
  const Result<PtxSource> ptx =
      compile_text("extern \"C\" __global__ void plain(int* x) { x[0] = 1; }", {"plain"});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
  EXPECT_EQ(ptx->entries.at("plain"), "plain");
}

TEST(Compile, LinesAreNamedAsTheUserWroteThem) {
  const Result<PtxSource> ptx = compile_text(scale, {"scale<float, 2>"});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
  EXPECT_EQ(ptx->origin, "somewhere/k.cu");
  EXPECT_THAT(ptx->text, HasSubstr("\t.file\t1 \"somewhere/k.cu\"\n"));
  EXPECT_THAT(ptx->text, HasSubstr(".loc\t1 2 "));
}

TEST(Compile, TheFirstErrorHasItsPlace) {
  CompileReport report;
  const Result<PtxSource> ptx = compile_text(
      "__global__ void k(int* x) {\n  x[0] = missing;\n  x[1] = other;\n}\n", {"k"}, {}, &report);
  ASSERT_FALSE(ptx);
  EXPECT_EQ(to_string(ptx.error()), "somewhere/k.cu:2:10: identifier \"missing\" is undefined");
  EXPECT_EQ(ptx.error().kind, ErrorKind::user);
  EXPECT_THAT(report.log, HasSubstr("identifier \"other\" is undefined"));
}

TEST(Compile, AnErrorInAnIncludedFileNamesThatFile) {
  const TemporaryFolder folder;
  folder.write("inner.h", "\n\nbroken;\n");
  const Result<PtxSource> ptx = compile({folder.path() / "k.cu", "#include \"inner.h\"\n", {}, {}, {}}, {});
  ASSERT_FALSE(ptx);
  EXPECT_EQ(ptx.error().place.file, (folder.path() / "inner.h").string());
  EXPECT_EQ(ptx.error().place.line, 3);
}

TEST(Compile, AMissingIncludeIsAUserError) {
  const Result<PtxSource> ptx = compile_text("\n#include \"nowhere.h\"\n");
  ASSERT_FALSE(ptx);
  EXPECT_EQ(ptx.error().place.line, 2);
  EXPECT_THAT(ptx.error().message, HasSubstr("nowhere.h"));
}

TEST(Compile, ANameThatNamesNoKernelSaysWhich) {
  const Result<PtxSource> ptx = compile_text(scale, {"scale<float, 2>", "shrink<float>"});
  ASSERT_FALSE(ptx);
  EXPECT_EQ(ptx.error().kind, ErrorKind::user);
  EXPECT_THAT(ptx.error().message, HasSubstr("no kernel 'shrink<float>'"));
  EXPECT_EQ(ptx.error().place.file, "somewhere/k.cu");
}

TEST(Compile, AnUnknownOptionSaysWhich) {
  const Result<PtxSource> ptx = compile_text(scale, {}, {"-frobnicate"});
  ASSERT_FALSE(ptx);
  EXPECT_EQ(ptx.error().kind, ErrorKind::user);
  EXPECT_THAT(ptx.error().message, HasSubstr("-frobnicate"));
}

TEST(Compile, OptionsArriveAndMayRepeatOurs) {
  const std::string source = "__global__ void k(float* x) { x[0] = LEVEL / x[1]; }";
  const Result<PtxSource> exact = compile_text(source, {"k"}, {"-DLEVEL=3.0f", "-lineinfo"});
  const Result<PtxSource> fast =
      compile_text(source, {"k"}, {"-DLEVEL=3.0f", "--use_fast_math", "-arch=compute_80"});
  ASSERT_TRUE(exact) << to_string(exact.error());
  ASSERT_TRUE(fast) << to_string(fast.error());
  EXPECT_THAT(exact->text, HasSubstr("div.rn.f32"));
  EXPECT_THAT(fast->text, HasSubstr("div.approx.ftz.f32"));
  EXPECT_THAT(fast->text, HasSubstr(".target sm_80"));
}

TEST(Compile, TheArchitectureIsAParameter) {
  const Result<PtxSource> ptx = compile({"k.cu", "__global__ void k() {}", {"k"}, {}, {}, "compute_80"}, {});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
  EXPECT_THAT(ptx->text, HasSubstr(".target sm_80"));
}

TEST(Compile, WarningsAreInTheLog) {
  CompileReport report;
  ASSERT_TRUE(compile_text("__global__ void k() { int unused; }", {"k"}, {}, &report));
  EXPECT_THAT(report.log, HasSubstr("\"unused\" was declared but never referenced"));
}

TEST(Compile, OwnIncludesAreFoundBesideTheSourceAndAlongIncludeDirs) {
  const TemporaryFolder folder;
  folder.write("kernels/beside.h", "#define BESIDE 1\n");
  folder.write("common/apart.h", "#include \"apart_too.h\"\n");
  folder.write("common/apart_too.h", "#define APART 2\n");
  const std::string source = "#include \"beside.h\"\n#include <beside.h>\n#include <apart.h>\n"
                             "__global__ void k(int* x) { x[0] = BESIDE + APART; }";
  const Result<PtxSource> ptx =
      compile({folder.path() / "kernels/k.cu", source, {"k"}, {folder.path() / "common"}, {}}, {});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
}

TEST(Compile, APtxSourceSkipsNvrtc) {
  const std::string text = ".visible .entry _Z4plusIfEvPT_i(\n)\n{ ret; }\n.entry bare() { ret; }\n";
  const Result<PtxSource> ptx = compile({"k.ptx", text, {"plus<float>", "bare"}, {}, {}}, {});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
  EXPECT_EQ(ptx->text, text);
  EXPECT_EQ(ptx->origin, "k.ptx");
  EXPECT_EQ(ptx->entries.at("plus<float>"), "_Z4plusIfEvPT_i");
  EXPECT_EQ(ptx->entries.at("bare"), "bare");
}

TEST(Compile, APtxSourceWithoutTheEntryIsAUserError) {
  const Result<PtxSource> ptx = compile({"k.ptx", ".entry bare() { ret; }", {"other"}, {}, {}}, {});
  ASSERT_FALSE(ptx);
  EXPECT_EQ(to_string(ptx.error()), "k.ptx: no entry 'other' in this PTX; it has bare");
}

TEST(Compile, WhatIsNoTextOrGivesNoPtxIsAUserError) {
  const Result<PtxSource> binary = compile_text(std::string("__global__ void k() {}\0", 23), {"k"});
  ASSERT_FALSE(binary);
  EXPECT_EQ(to_string(binary.error()), "somewhere/k.cu: is no text: it holds a zero byte");
  const Result<PtxSource> lto = compile_text("__global__ void k() {}", {"k"}, {"-dlto"});
  ASSERT_FALSE(lto);
  EXPECT_EQ(lto.error().kind, ErrorKind::user);
}

TEST(Compile, HasALimitOfTime) {
  std::string text = "#define M0(x) x x x x x x x x x x\n";
  for (int depth = 1; depth < 12; ++depth) {
    const std::string inner = fmt::format("M{}(x)", depth - 1);
    text += fmt::format("#define M{}(x) {} {} {} {} {} {} {} {} {} {}\n", depth, inner, inner, inner, inner,
                        inner, inner, inner, inner, inner, inner);
  }
  text += "__global__ void k(int* x) { M11(x[0] += 1;) }\n";
  ::setenv("ASSAY_COMPILE_SECONDS", "1", 1);
  const Result<PtxSource> ptx = compile_text(text, {"k"});
  ::unsetenv("ASSAY_COMPILE_SECONDS");
  ASSERT_FALSE(ptx);
  EXPECT_EQ(ptx.error().kind, ErrorKind::user);
  EXPECT_EQ(to_string(ptx.error()), "somewhere/k.cu: NVRTC did not compile it within 1 s of processor time; "
                                    "ASSAY_COMPILE_SECONDS allows more");
}

TEST(Compile, WhatIncludesADeviceOrAPipeIsRefused) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe.h").c_str(), 0600), 0);
  folder.write("between.h", "\n\n#include \"pipe.h\"\n");
  const std::string file = folder / "k.cu";
  for (const auto& [text, told] :
       {std::pair{"\n#include \"/dev/zero\"\n", file + ":2: includes /dev/zero, which is not a regular file"},
        std::pair{"#include <pipe.h>\n", file + ":1: includes pipe.h, which is not a regular file"},
        std::pair{"#include \"between.h\"\n",
                  (folder / "between.h") + ":3: includes pipe.h, which is not a regular file"}}) {
    const auto ptx = compile({file, text, {}, {}, {}, "compute_90"}, {});
    ASSERT_FALSE(ptx);
    EXPECT_EQ(ptx.error().kind, ErrorKind::user);
    EXPECT_EQ(to_string(ptx.error()), told);
  }
}

TEST(Compile, ASourceThatIsNotUtf8IsAUserError) {
  const Result<PtxSource> ptx =
      compile_text("extern \"C\" __global__ void k(int* x) { x[0] = 1; }\n__device__ int \xff\xfe;\n", {"k"});
  ASSERT_FALSE(ptx);
  EXPECT_EQ(ptx.error().kind, ErrorKind::user);
  EXPECT_EQ(ptx.error().place.file, "somewhere/k.cu");
  EXPECT_EQ(ptx.error().message.find('\n'), std::string::npos);
}

TEST(Compile, VersionNamesTheLibrary) {
  const Result<std::string> version = compiler_version();
  ASSERT_TRUE(version) << to_string(version.error());
  EXPECT_THAT(*version, testing::StartsWith("NVRTC "));
  EXPECT_THAT(*version, HasSubstr("libnvrtc.so."));
}

} // namespace
} // namespace assay
