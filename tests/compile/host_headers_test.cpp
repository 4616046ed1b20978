// A .cu that includes the usual host headers compiles unchanged under NVRTC.
#include "harness/compile/compile.h"
#include "harness/compile/host_headers.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

Result<PtxSource> compile_text(const std::string& text, std::vector<std::string> names) {
  return compile({"k.cu", text, std::move(names), {}, {}}, {});
}

class HostHeader : public testing::TestWithParam<std::string> {};

TEST_P(HostHeader, CompilesAlone) {
  const Result<PtxSource> ptx =
      compile_text("#include <" + GetParam() + ">\n__global__ void k(float* x) { x[0] = 1; }", {"k"});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
}

std::vector<std::string> all_headers() {
  std::vector<std::string> names = {"cuda_runtime.h",
                                    "cooperative_groups.h",
                                    "cuda_fp16.h",
                                    "cuda_bf16.h",
                                    "cuda_fp8.h",
                                    "mma.h",
                                    "cooperative_groups/reduce.h",
                                    "cuda_pipeline.h",
                                    "math_constants.h",
                                    "cuda/std/limits"};
  for (const auto& header : host_headers()) names.push_back(header.first);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, HostHeader, testing::ValuesIn(all_headers()), test_name);

TEST(HostHeaders, AllTogetherAndUsed) {
  const Result<PtxSource> ptx = compile_text(R"(
#include <assert.h>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cooperative_groups.h>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <mma.h>
#include <stdint.h>
#include <stdio.h>

template <typename T>
__global__ void k(T* __restrict__ x, std::uint32_t* bits, std::int64_t n, std::size_t m) {
  auto block = cooperative_groups::this_thread_block();
  static_assert(std::is_same<std::uint8_t, unsigned char>::value && sizeof(int64_t) == 8, "");
  assert(n < INT_MAX);
  if (n == 7) printf("%d %f\n", static_cast<int>(m), FLT_MAX);
  float v = std::sqrt(static_cast<float>(x[0])) + std::exp(-INFINITY) + std::fmax(1.0f, FLT_EPSILON);
  v += std::max(1, 2) + std::min<float>(v, std::numeric_limits<float>::max()) + float(M_PI);
  v += std::isnan(v) || isinf(v) || std::isfinite(v) ? NAN : float(std::sqrt(static_cast<int>(n)));
  bits[0] = UINT32_MAX;
  int word;
  std::memcpy(&word, &v, sizeof v);
  block.sync();
  x[std::move(word)] = static_cast<T>(v);
}
)",
                                             {"k<float>", "k<__half>", "k<__nv_bfloat16>", "k<double>"});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
}

TEST(HostHeaders, FloatFunctionsStayInFloat) {
  const Result<PtxSource> ptx =
      compile_text("#include <cmath>\n__global__ void k(float* x) {\n"
                   "  x[0] = std::sqrt(x[0]) + std::exp(x[1]) + sqrt(x[2]) + std::abs(x[3]) +\n"
                   "         std::floor(x[4]) + std::tanh(x[5]) + std::log1p(x[6]);\n}",
                   {"k"});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
  EXPECT_EQ(ptx->text.find(".f64"), std::string::npos);
}

TEST(HostHeaders, AUsersFileOfThatNameGoesFirst) {
  const TemporaryFolder folder;
  folder.write("math.h", "#define OWN 5\n");
  const Result<PtxSource> ptx = compile({folder.path() / "k.cu",
                                         "#include \"math.h\"\n__global__ void k(int* x) { x[0] = OWN; }",
                                         {"k"},
                                         {},
                                         {}},
                                        {});
  ASSERT_TRUE(ptx) << to_string(ptx.error());
}

} // namespace
} // namespace assay
