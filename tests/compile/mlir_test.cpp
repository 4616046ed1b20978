// MLIR's gpu dialect to PTX. Needs mlir-opt-22 (tools/assay brings it where Debian has it).
#include "harness/compile/compile.h"
#include "harness/compile/mlir_output.h"
#include "harness/compile/mlir_pipeline.h"
#include "harness/compile/mlir_tool.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace assay {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* twice = "module attributes {gpu.container_module} {\n"
                              "  gpu.module @kernels {\n"
                              "    gpu.func @twice(%x: memref<?xf32>) kernel {\n"
                              "      %i = gpu.thread_id x\n"
                              "      %v = memref.load %x[%i] : memref<?xf32>\n"
                              "      %w = arith.addf %v, %v : f32\n"
                              "      memref.store %w, %x[%i] : memref<?xf32>\n"
                              "      gpu.return\n"
                              "    }\n"
                              "  }\n"
                              "}\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

Result<PtxSource> compile_mlir_text(const std::string& text, std::vector<std::string> options = {},
                                    std::vector<std::string> names = {"twice"}) {
  return compile({"somewhere/k.mlir", text, std::move(names), {}, std::move(options)}, {});
}

std::string error_of(const Result<PtxSource>& result) {
  return result ? "no error" : to_string(result.error());
}

// Without the tool the tests below say nothing, and are skipped with that reason.
class Mlir : public testing::Test {
 protected:
  void SetUp() override {
    if (const Result<std::filesystem::path> tool = find_mlir_opt(); !tool)
      GTEST_SKIP() << to_string(tool.error());
  }
};

TEST_F(Mlir, AModuleBecomesPtxWithItsLines) {
  const Result<PtxSource> ptx = compile_mlir_text(twice);
  ASSERT_TRUE(ptx) << to_string(ptx.error());
  EXPECT_EQ(ptx->entries.at("twice"), "twice");
  EXPECT_EQ(ptx->origin, "somewhere/k.mlir");
  EXPECT_THAT(ptx->text, HasSubstr(".visible .entry twice("));
  EXPECT_THAT(ptx->text, HasSubstr(".target sm_90\n"));
  EXPECT_THAT(ptx->text, HasSubstr(".file\t1 \"somewhere/k.mlir\""));
  EXPECT_THAT(ptx->text, HasSubstr(".loc\t1 6 12"));
  EXPECT_THAT(ptx->text, HasSubstr("twice_param_4")) << "pointer, pointer, offset, size, stride";
  EXPECT_THAT(ptx->text, Not(HasSubstr("twice_param_5")));
}

TEST_F(Mlir, VectorsAndTensorCoresAreLowered) {
  const Result<PtxSource> ptx = compile_mlir_text(
      "gpu.module @kernels {\n"
      "  gpu.func @twice(%x: memref<?xf32>, %a: vector<4x2xf16>, %b: vector<2x2xf16>) kernel {\n"
      "    %i = gpu.thread_id x\n"
      "    %zero = arith.constant 0.0 : f32\n"
      "    %c = arith.constant dense<0.0> : vector<2x2xf32>\n"
      "    %v = vector.transfer_read %x[%i], %zero : memref<?xf32>, vector<4xf32>\n"
      "    %u = vector.load %x[%i] : memref<?xf32>, vector<4xf32>\n"
      "    %w = arith.addf %u, %v : vector<4xf32>\n"
      "    vector.transfer_write %w, %x[%i] : vector<4xf32>, memref<?xf32>\n"
      "    %d = nvgpu.mma.sync (%a, %b, %c) {mmaShape = [16, 8, 16]}\n"
      "        : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>\n"
      "    %e = vector.extract %d[0, 0] : f32 from vector<2x2xf32>\n"
      "    memref.store %e, %x[%i] : memref<?xf32>\n"
      "    gpu.return\n"
      "  }\n"
      "}\n");
  ASSERT_TRUE(ptx) << to_string(ptx.error());
  EXPECT_THAT(ptx->text, HasSubstr("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
}

TEST_F(Mlir, LaunchesInHostCodeAreOutlined) {
  const Result<PtxSource> ptx =
      compile_mlir_text("func.func @host(%x: memref<8xf32>) {\n"
                        "  %one = arith.constant 1 : index\n"
                        "  %v = arith.constant 2.0 : f32\n"
                        "  gpu.launch blocks(%a, %b, %c) in (%d = %one, %e = %one, %f = %one)\n"
                        "      threads(%t, %u, %w) in (%g = %one, %h = %one, %i = %one) {\n"
                        "    memref.store %v, %x[%t] : memref<8xf32>\n"
                        "    gpu.terminator\n"
                        "  }\n"
                        "  return\n"
                        "}\n",
                        {}, {"host_kernel"});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
}

TEST_F(Mlir, OptionsSetTheTargetAndTheConvention) {
  const std::string fixed = replaced(replaced(replaced(twice, "?", "8"), "?", "8"), "?", "8");
  const Result<PtxSource> ptx = compile_mlir_text(fixed, {"chip=sm_80", "bare-pointers=true", "opt-level=3"});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
  EXPECT_THAT(ptx->text, HasSubstr(".target sm_80\n"));
  EXPECT_THAT(ptx->text, HasSubstr("twice_param_0"));
  EXPECT_THAT(ptx->text, Not(HasSubstr("twice_param_1"))) << "one pointer";
}

TEST_F(Mlir, PassesRunBeforeTheLowering) {
  const std::string apart = replaced(twice, "%w = arith.addf %v, %v : f32",
                                     "%u = arith.mulf %v, %v : f32\n      %w = arith.addf %u, %v : f32");
  const Result<PtxSource> plain = compile_mlir_text(apart);
  const Result<PtxSource> fused =
      compile_mlir_text(replaced(replaced(apart, "%v, %v : f32", "%v, %v fastmath<contract> : f32"),
                                 "%u, %v : f32", "%u, %v fastmath<contract> : f32"),
                        {"math-uplift-to-fma"});
  ASSERT_TRUE(plain && fused) << error_of(plain) << error_of(fused);
  EXPECT_THAT(plain->text, HasSubstr("mul.rn.f32"));
  EXPECT_THAT(fused->text, HasSubstr("fma.rn.f32"));
}

TEST_F(Mlir, AnotherPipelineMayTakeTheWholePlace) {
  const Result<PtxSource> ptx = compile_mlir_text(
      twice, {"pipeline=builtin.module(gpu-lower-to-nvvm-pipeline{cubin-chip=sm_80 cubin-features=+ptx80 "
              "cubin-format=isa})"});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
  EXPECT_THAT(ptx->text, HasSubstr(".target sm_80\n"));
}

TEST_F(Mlir, ASecondCompilationComesFromTheCache) {
  const TemporaryFolder folder;
  CompileRequest request{"k.mlir", twice, {"twice"}, {}, {}};
  CompileReport report;
  const Result<PtxSource> first = compile(request, folder.path(), &report);
  EXPECT_FALSE(report.cached);
  const Result<PtxSource> second = compile(request, folder.path(), &report);
  EXPECT_TRUE(report.cached);
  ASSERT_TRUE(first && second) << error_of(first);
  EXPECT_EQ(first->text, second->text);
  request.options = {"opt-level=0"};
  ASSERT_TRUE(compile(request, folder.path(), &report));
  EXPECT_FALSE(report.cached);
}

TEST_F(Mlir, ErrorsHaveTheirPlace) {
  EXPECT_EQ(error_of(compile_mlir_text(replaced(twice, "arith.addf", "arith.addg"))),
            "somewhere/k.mlir:6:12: custom op 'arith.addg' is unknown");
  EXPECT_EQ(error_of(compile_mlir_text(replaced(twice, "%v, %v : f32", "%v, %q : f32"))),
            "somewhere/k.mlir:6:27: use of undeclared SSA value name");
  EXPECT_THAT(error_of(compile_mlir_text("gpu.module @k {\n")), StartsWith("somewhere/k.mlir:1:16: "));
  EXPECT_THAT(error_of(compile_mlir_text("no mlir at all")), StartsWith("somewhere/k.mlir:1:1: "));
}

TEST_F(Mlir, WhatNoPassLowersIsNamedAtItsLine) {
  const std::string tensors =
      replaced(twice, "%w = arith.addf %v, %v : f32",
               "%c = arith.constant 0 : index\n      %t = tensor.empty() : tensor<4xf32>\n"
               "      %w = tensor.extract %t[%c] : tensor<4xf32>");
  EXPECT_EQ(error_of(compile_mlir_text(tensors)),
            "somewhere/k.mlir:7:12: no pass lowers 'tensor.empty', so that no PTX comes of it");
  const std::string subgroup =
      replaced(twice, "arith.addf %v, %v : f32", "gpu.subgroup_reduce add %v : (f32) -> f32");
  EXPECT_EQ(
      error_of(compile_mlir_text(subgroup)),
      "somewhere/k.mlir:6:12: failed to legalize operation 'gpu.subgroup_reduce' that was explicitly marked "
      "illegal");
}

TEST_F(Mlir, NamesAndOptionsThatDoNotFitAreUserErrors) {
  const Result<PtxSource> name = compile_mlir_text(twice, {}, {"thrice"});
  EXPECT_EQ(error_of(name), "somewhere/k.mlir: no entry 'thrice' in this PTX; it has twice");
  EXPECT_EQ(error_of(compile_mlir_text("module {}")),
            "somewhere/k.mlir: has no gpu.module, nor a gpu.launch that one could be made of");
  EXPECT_THAT(error_of(compile_mlir_text(twice, {"-O3=1"})),
              HasSubstr("option \"-O3=1\" is none of an .mlir source"));
  EXPECT_EQ(error_of(compile_mlir_text(twice, {"no-such-pass"})),
            "somewhere/k.mlir: options: 'no-such-pass' does not refer to a registered pass or pass pipeline");
  EXPECT_EQ(error_of(compile_mlir_text(twice, {"cse{x=1}"})), "somewhere/k.mlir: options: no such option x");
  EXPECT_EQ(error_of(compile_mlir_text(twice, {"opt-level=x"})),
            "somewhere/k.mlir: options: for the -O option: 'x' value invalid for uint argument!");
  for (const auto& result : {name, compile_mlir_text(twice, {"no-such-pass"})})
    EXPECT_EQ(result.error().kind, ErrorKind::user);
}

TEST_F(Mlir, ModulesAreChosenByTheirKernels) {
  const std::string two = replaced(twice, "  gpu.module @kernels {\n",
                                   "  gpu.module @first {\n    gpu.func @other() kernel { gpu.return }\n  }\n"
                                   "  gpu.module @kernels {\n");
  const Result<PtxSource> ptx = compile_mlir_text(two);
  ASSERT_TRUE(ptx) << to_string(ptx.error());
  EXPECT_THAT(ptx->text, Not(HasSubstr("other")));
  EXPECT_EQ(error_of(compile_mlir_text(two, {}, {"twice", "other"})),
            "somewhere/k.mlir: none of its modules (first, kernels) has all of the kernels twice, other");
}

TEST(MlirTool, IsNamedWithItsPackageWhereItIsMissing) {
  const Result<ChildRun> run = run_mlir_opt("/nonexistent/mlir-opt", {}, "");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::environment);
}

TEST(MlirOutput, BytesOfAnAttributeAreRead) {
  const std::vector<MlirBinary> binaries = mlir_binaries(
      "  gpu.binary @k  [#gpu.object<#nvvm.target, assembly = \".file\\091 \\22<stdin>\\22\\0A// \\\\ \">]\n",
      "k.mlir");
  ASSERT_EQ(binaries.size(), 1u);
  EXPECT_EQ(binaries[0].module, "k");
  EXPECT_EQ(binaries[0].ptx, ".file\t1 \"k.mlir\"\n// \\ ");
  EXPECT_TRUE(mlir_binaries("gpu.binary @k [", "k.mlir").empty());
  EXPECT_TRUE(mlir_binaries("module {}", "k.mlir").empty());
}

TEST(MlirOutput, ALogWithoutAnErrorIsStillAnError) {
  EXPECT_EQ(to_string(first_mlir_error("", "k.mlir")), "k.mlir: mlir-opt refuses it without saying why");
  EXPECT_EQ(to_string(first_mlir_error("LLVM ERROR: Cannot select: t1\nStack dump:\n", "k.mlir")),
            "k.mlir: Cannot select: t1");
  EXPECT_EQ(to_string(first_mlir_error("model.py:3:4: error: bad\n", "k.mlir")), "model.py:3:4: bad");
}

TEST(MlirPipeline, KeysOfTheTargetAndPassesAreToldApart) {
  const Result<std::string> passes =
      mlir_pipeline({"canonicalize{max-iterations=3}", "cse"}, "compute_90", "", "k");
  ASSERT_TRUE(passes);
  EXPECT_THAT(*passes,
              StartsWith("builtin.module(canonicalize{max-iterations=3},cse,convert-nvgpu-to-nvvm,"));
  EXPECT_THAT(*passes, HasSubstr("chip=sm_90 features=+ptx80 O=2"));
  EXPECT_THAT(*mlir_pipeline({}, "compute_90", "/cuda", "k"), HasSubstr("format=isa toolkit=/cuda}"));
}

} // namespace
} // namespace assay
