// Sources that other compilers made: PTX that does not fit its manifest, MLIR that does not lower.
#include "tests/bad_input/refused.h"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

struct Edit {
  const char* name;
  const char* kernel; // folder
  std::string file;   // of it
  std::string from, to;
  std::vector<std::string> says;
};

class CompiledKernel : public ::testing::TestWithParam<Edit> {};

TEST_P(CompiledKernel, IsRefused) {
  const Edit& edit = GetParam();
  const TemporaryFolder folder;
  const fs::path manifest = copy_kernel(edit.kernel, folder);
  const std::string text = slurp(manifest.parent_path() / edit.file);
  folder.write(std::string("kernels/") + edit.kernel + "/" + edit.file,
               edit.from.empty() ? edit.to : replaced(text, edit.from, edit.to));
  const ProgramRun run =
      run_assay({"fuzz", manifest.string(), "--runs", "20", "--jobs", "1", "--out", folder / "out"});
  if (run.exit == 4 && edit.file != "softmax_bf16.ptx") GTEST_SKIP() << run.err; // no MLIR here
  expect_refused(run, edit.says);
  EXPECT_FALSE(fs::exists(folder / "out"));
}

INSTANTIATE_TEST_SUITE_P(
    Ptx, CompiledKernel,
    ::testing::Values(
        Edit{"NoSuchEntry",
             "triton_softmax",
             "kernel.toml",
             "softmax_forward",
             "softmax_forwards",
             {"softmax_bf16.ptx: no entry 'softmax_forwards'", "softmax_forward, softmax_backward"}},
        Edit{"TooFewArguments",
             "triton_softmax",
             "kernel.toml",
             "\"x\", \"y\", \"cols\", \"null\", \"null\"]",
             "\"x\", \"y\", \"cols\"]",
             {"kernel.toml:10", "has 5 parameters, but args lists 3"}},
        Edit{"ArgumentOfAnotherSize",
             "triton_softmax",
             "kernel.toml",
             "\"x\", \"y\", \"cols\"",
             "\"x\", \"y\", \"cols:i64\"",
             {"kernel.toml:15", "argument 3", "write \"cols:i32\""}},
        Edit{"AnotherEntry",
             "triton_softmax",
             "softmax_bf16.ptx",
             ".param .u32 softmax_forward_param_2",
             ".param .u64 softmax_forward_param_2",
             {"kernel.toml:15", "argument 3"}},
        Edit{"NoPtx",
             "triton_softmax",
             "softmax_bf16.ptx",
             "",
             "module {}\n",
             {"softmax_bf16.ptx: no .entry"}},
        Edit{"CutOff", "triton_softmax", "softmax_bf16.ptx", "\tret;", "\tret", {"softmax_bf16.ptx:"}}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Mlir, CompiledKernel,
    ::testing::Values(
        Edit{"Malformed",
             "mlir_silu",
             "silu.mlir",
             "memref.load %x[%i]",
             "memref.load %x[%i",
             {"silu.mlir:11:"}},
        Edit{"UnknownOperation",
             "mlir_silu",
             "silu.mlir",
             "math.exp",
             "math.expp",
             {"silu.mlir:13:", "math.expp"}},
        Edit{"UnsupportedOperation",
             "mlir_silu",
             "silu.mlir",
             "%power = math.exp %negated : f32",
             "%t = tensor.empty() : tensor<1xf32>\n        %power = tensor.extract %t[%zero] : "
             "tensor<1xf32>",
             {"silu.mlir:13:", "tensor.empty"}},
        Edit{"NoSuchKernel",
             "mlir_silu",
             "kernel.toml",
             "\"silu_forward\"",
             "\"silu\"",
             {"silu.mlir: no entry 'silu'", "silu_forward, silu_backward"}},
        Edit{"PointerForAMemref",
             "mlir_silu",
             "kernel.toml",
             "[\"memref:x\", \"memref:y\"]",
             "[\"x\", \"y\"]",
             {"kernel.toml:8", "has 10 parameters, but args lists 2"}},
        Edit{"MemrefOfAnotherRank",
             "mlir_softmax",
             "kernel.toml",
             "\"memref:x\", ",
             "\"x\", ",
             {"kernel.toml:", "has 14 parameters, but args (a memref being several) come to 8"}},
        Edit{"OptionOfNvrtc",
             "mlir_silu",
             "kernel.toml",
             "dtypes",
             "options = [\"--use_fast_math=1\"]\ndtypes",
             {"silu.mlir: option \"--use_fast_math=1\"", "passes"}},
        Edit{"UnknownPass",
             "mlir_silu",
             "kernel.toml",
             "dtypes",
             "options = [\"--fast\"]\ndtypes",
             {"silu.mlir: options: ", "--fast"}},
        Edit{"NoModule", "mlir_silu", "silu.mlir", "", "module {}\n", {"silu.mlir: has no gpu.module"}}),
    [](const auto& test) { return test.param.name; });

TEST(MlirMissing, IsExitCode4AndNamesThePackage) {
  const TemporaryFolder folder;
  const ProgramRun run =
      run_assay({"verify", "kernels/mlir_silu/kernel.toml"}, {.environment = {{"PATH", folder.path()}}});
  EXPECT_EQ(run.exit, 4) << run.err;
  expect_one_line(run, {"mlir-22-tools"});
}

} // namespace
} // namespace assay::testing
