#include "harness/cases/manifest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace assay {
namespace {

constexpr std::string_view complete = R"toml(name    = "offset_rmsnorm"
op      = "offset_rmsnorm"
source  = "offset_rmsnorm.cu"
options = ["-lineinfo"]
include = ["include", "../common"]
dtypes  = ["f32", "f16", "bf16"]
deterministic = true
flush_subnormals = false

[dims]
rows = { min = 1, max = 512 }
cols = { min = 1, max = 8192, near = [256, 4096], production = [5120], multiple_of = 1 }
heads = 8

[let]
tiles = "ceil_div(rows, 32)"
block = "min(1024, next_pow2(cols))"
all   = "tiles * block"

[[launch]]
kernel = "offset_rmsnorm_forward<${T}, ${block}>"
grid   = ["rows"]
block  = ["block"]
shared = "4 * cols"
args   = ["x", "weight", "y", "rstd", "cols", "eps", "x.stride(0)", "0", "null"]

[[launch]]
pass   = "backward"
kernel = "offset_rmsnorm_backward<${T}>"
grid   = ["tiles", "2"]
block  = ["block", "1", "1"]
args   = ["grad_y", "rows:i64", "cols:i32", "partial", "grad_y.stride(1):i32"]

[scratch]
partial = { shape = ["tiles", "cols"], dtype = "f32", zero = true }
copy    = { shape = ["all"], dtype = "T" }

[params]
eps = 1e-6
causal = [0, 1]

[layout]
x = "strided"
weight = ["row_strided", "offset"]

[tolerance]
fudge = 3
atol = 1e-9
reference_limit = 0.2
rms_limit = 1.5
max_ulp = 2
evidence = "expf is 1 ULP, the division another"
)toml";

TEST(Manifest, every_key_of_a_complete_one) {
  const auto parsed = parse_manifest(complete, "kernels/offset_rmsnorm/kernel.toml");
  ASSERT_TRUE(parsed.has_value()) << to_string(parsed.error());
  const Manifest& m = *parsed;
  EXPECT_EQ(m.path, "kernels/offset_rmsnorm/kernel.toml");
  EXPECT_EQ(m.source, "kernels/offset_rmsnorm/offset_rmsnorm.cu");
  EXPECT_EQ(m.name, "offset_rmsnorm");
  EXPECT_EQ(m.op, "offset_rmsnorm");
  EXPECT_EQ(m.options, std::vector<std::string>{"-lineinfo"});
  EXPECT_EQ(m.include_dirs, (std::vector<std::filesystem::path>{"kernels/offset_rmsnorm/include",
                                                                "kernels/offset_rmsnorm/../common"}));
  EXPECT_EQ(m.dtypes, (std::vector<DType>{DType::f32, DType::f16, DType::bf16}));
  EXPECT_TRUE(m.deterministic);
  EXPECT_FALSE(m.flush_subnormals);
  EXPECT_TRUE(m.has_backward());

  ASSERT_EQ(m.dims.size(), 3u); // in file order, not sorted by name
  EXPECT_EQ(m.dims[0].name, "rows");
  EXPECT_EQ(m.dims[1].name, "cols");
  EXPECT_EQ(m.dims[1].near, (std::vector<std::int64_t>{256, 4096}));
  EXPECT_EQ(m.dims[1].production, std::vector<std::int64_t>{5120});
  EXPECT_EQ(m.dims[1].place.line, 12);
  EXPECT_TRUE(m.dims[2].pinned());
  EXPECT_EQ(m.dims[2].max, 8);

  ASSERT_EQ(m.lets.size(), 3u);
  EXPECT_EQ(m.lets[0].name, "tiles");
  EXPECT_EQ(m.lets[2].value.text(), "tiles * block");

  ASSERT_EQ(m.launches.size(), 2u);
  EXPECT_EQ(m.launches[0].pass, Pass::forward);
  EXPECT_EQ(m.launches[0].kernel, "offset_rmsnorm_forward<${T}, ${block}>");
  EXPECT_EQ(m.launches[0].shared.text(), "4 * cols");
  EXPECT_EQ(m.launches[0].place.line, 20);
  ASSERT_EQ(m.launches[0].args.size(), 9u);
  using Form = ArgumentText::Form;
  EXPECT_EQ(m.launches[0].args[0].form, Form::name);
  EXPECT_EQ(m.launches[0].args[6].form, Form::stride);
  EXPECT_EQ(m.launches[0].args[6].name, "x");
  EXPECT_EQ(m.launches[0].args[6].stride_dim, 0);
  EXPECT_EQ(m.launches[0].args[7].form, Form::zero);
  EXPECT_EQ(m.launches[0].args[8].form, Form::null);
  EXPECT_EQ(m.launches[1].pass, Pass::backward);
  EXPECT_EQ(m.launches[1].grid.size(), 2u);
  EXPECT_EQ(m.launches[1].shared.text(), "0");
  EXPECT_EQ(m.launches[1].args[1].width, DType::i64);
  EXPECT_EQ(m.launches[1].args[4].form, Form::stride);
  EXPECT_EQ(m.launches[1].args[4].name, "grad_y");
  EXPECT_EQ(m.launches[1].args[4].stride_dim, 1);
  EXPECT_EQ(m.launches[1].args[4].width, DType::i32);
  EXPECT_EQ(m.launches[1].args[2].width, DType::i32);
  EXPECT_EQ(m.launches[1].args[1].place.line, 32);

  ASSERT_EQ(m.scratch.size(), 2u);
  EXPECT_EQ(m.scratch[0].dtype, DType::f32);
  EXPECT_TRUE(m.scratch[0].zero);
  EXPECT_FALSE(m.scratch[1].dtype.has_value());
  ASSERT_EQ(m.params.size(), 2u);
  EXPECT_EQ(m.params[0].values, std::vector<double>{1e-6});
  EXPECT_EQ(m.params[1].values, (std::vector<double>{0, 1}));
  ASSERT_EQ(m.layout.size(), 2u);
  EXPECT_TRUE(m.layout[0].strided);
  EXPECT_TRUE(m.layout[1].row_strided && m.layout[1].offset && !m.layout[1].strided);
  EXPECT_EQ(m.tolerance.fudge, 3);
  EXPECT_EQ(m.tolerance.atol, 1e-9);
  EXPECT_EQ(m.tolerance.reference_limit, 0.2);
  EXPECT_EQ(m.tolerance.rms_limit, 1.5);
  EXPECT_EQ(m.tolerance.max_ulp, 2);
  EXPECT_EQ(m.tolerance.evidence, "expf is 1 ULP, the division another");
  EXPECT_EQ(m.places.at("dims").line, 10);
}

std::string least(std::string_view extra = "") {
  return std::string(extra) + R"(
op = "relu"
source = "k.cu"
dtypes = ["f32"]
dims = { n = 4 }
launch = [{ kernel = "k", grid = ["n"], block = ["64"], args = [] }]
)";
}

TEST(Manifest, defaults) {
  const auto m = parse_manifest(least(), "kernels/relu/kernel.toml");
  ASSERT_TRUE(m.has_value()) << to_string(m.error());
  EXPECT_TRUE(m->deterministic);
  EXPECT_EQ(m->tolerance, Tolerance{});
  EXPECT_EQ(m->dims[0].multiple_of, 1);
  EXPECT_FALSE(m->has_backward());
  EXPECT_EQ(m->launches[0].shared.text(), "0");
}

TEST(Manifest, a_byte_order_mark_does_not_matter) {
  const auto m = parse_manifest("\xef\xbb\xbf" + least(), "kernels/relu/kernel.toml");
  ASSERT_TRUE(m.has_value()) << to_string(m.error());
  EXPECT_EQ(m->op, "relu");
}

TEST(Manifest, the_name_defaults_to_the_folder_and_the_stem) {
  const auto name_at = [](const char* path) {
    const auto m = parse_manifest(least(), path);
    return m ? m->name : to_string(m.error());
  };
  EXPECT_EQ(name_at("kernels/relu/kernel.toml"), "relu");
  EXPECT_EQ(name_at("kernels/relu/fast.toml"), "relu.fast");
  EXPECT_EQ(name_at("/a/my kernel/kernel.toml"), "my_kernel");
  EXPECT_EQ(name_at("/a/b/../relu/./kernel.toml"), "relu");
  EXPECT_EQ(name_at("kernel.toml"), std::filesystem::current_path().filename().string());
}

TEST(Manifest, options_that_flush_subnormals_say_so) {
  const auto flushes = [](std::string_view options) {
    const auto m = parse_manifest(least(fmt::format("options = [{}]", options)), "k/kernel.toml");
    EXPECT_TRUE(m.has_value()) << to_string(m.error());
    EXPECT_EQ(m->flush_subnormals, m->tolerance.flush_subnormals);
    return m->flush_subnormals;
  };
  for (const char* options : {R"("--use_fast_math")", R"("-use_fast_math")", R"("--ftz=true")",
                              R"("-ftz=true")", R"("-lineinfo", "--ftz")", R"("-ftz", "true")"})
    EXPECT_TRUE(flushes(options)) << options;
  for (const char* options :
       {"", R"("-lineinfo")", R"("--ftz=false")", R"("-ftz", "false")", R"("--fmad=true")"})
    EXPECT_FALSE(flushes(options)) << options;
  EXPECT_TRUE(parse_manifest(least("flush_subnormals = true"), "k/kernel.toml")->tolerance.flush_subnormals);
}

TEST(Manifest, loading_a_missing_file_or_a_folder_is_a_user_error) {
  for (const char* path : {"no/such/kernel.toml", "/"}) {
    const auto m = load_manifest(path);
    ASSERT_FALSE(m.has_value());
    EXPECT_EQ(m.error().kind, ErrorKind::user);
    EXPECT_EQ(m.error().place.file, path);
  }
}

} // namespace
} // namespace assay
