#include "harness/run/kernel.h"
#include "tests/run/softmax_fixture.h"

#include <gmock/gmock.h>

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

int line_of(const std::string& text, const std::string& piece) {
  return 1 + static_cast<int>(std::count(text.begin(),
                                         text.begin() + static_cast<std::ptrdiff_t>(text.find(piece)), '\n'));
}

// The error with which binding a changed softmax manifest ends.
Error bind_error(const std::string& manifest_text, const char* op = "softmax",
                 const char* ptx = softmax_ptx) {
  FakeDevice device;
  device.add("softmax", {8, 8, 4}, right_softmax);
  auto manifest = parse_manifest(manifest_text, "k.toml");
  EXPECT_TRUE(manifest) << to_string(manifest.error());
  if (!manifest) return {};
  auto kernel = Kernel::bind(*manifest, *find_op(op), ptx, device);
  EXPECT_FALSE(kernel) << "nothing was wrong with " << manifest_text;
  return kernel ? Error{} : kernel.error();
}

void expect_user_error(const Error& error, const std::string& manifest, const std::string& at,
                       const std::string& says) {
  EXPECT_EQ(error.kind, ErrorKind::user);
  EXPECT_EQ(error.place.file, "k.toml");
  EXPECT_EQ(error.place.line, line_of(manifest, at)) << error.message;
  EXPECT_THAT(error.message, HasSubstr(says));
}

struct BadManifest {
  const char* from;
  const char* to;
  const char* at; // the error names the line of this text
  const char* says;
};

TEST(Kernel, MismatchesBetweenManifestAndOperatorNameTheirLine) {
  const std::vector<BadManifest> table{
      {"cols = { min", "lines = { min = 1, max = 2 }\ncols = { min", "lines",
       "operator softmax has no dimension 'lines'; it has rows, cols"},
      {"\"y\", \"cols\"]", "\"z\", \"cols\"]", "args", "unknown argument 'z'"},
      {"\"y\", \"cols\"]", "\"grad_y\", \"cols\"]", "args", "belongs to the backward pass"},
      {"\"y\", \"cols\"]", "\"y.stride(2)\", \"cols\"]", "args", "stride(0) to stride(1)"},
      {"\"y\", \"cols\"]", "\"x\", \"cols\"]", "[[launch]]", "no launch takes 'y'"},
      {"\"x\", \"y\", \"cols\"]", "\"x\", \"y\", \"cols:i64\"]", "args",
       "has 8 bytes, but the parameter has 4: write \"cols:i32\""},
      {"\"x\", \"y\", \"cols\"]", "\"x\", \"y\"]", "[[launch]]", "has 3 parameters, but args lists 2"},
      {"\"x\", \"y\", \"cols\"]", "\"memref:x\", \"y\"]", "[[launch]]",
       "has 3 parameters, but args (a memref being several) come to 8"},
      {"\"x\", \"y\", \"cols\"]", "\"x\", \"y\", \"memref:cols\"]", "args",
       "'memref:cols' must name a tensor or a scratch buffer"},
      {"\"x\", \"y\", \"cols\"]", "\"x\", \"y\", \"memref:z\"]", "args", "unknown argument 'z'"},
      {"[[launch]]", "[scratch]\ny = { shape = [\"rows\"], dtype = \"f32\" }\n[[launch]]", "y = {",
       "already uses"},
      {"[[launch]]", "[layout]\nq = \"strided\"\n[[launch]]", "q = ", "no tensor of operator softmax"},
      {"[[launch]]", "[params]\neps = 1e-6\n[[launch]]", "eps", "no parameter 'eps'"},
      {"[[launch]]", "[tolerance]\nmax_ulp = 2\nevidence = \"e\"\n[[launch]]", "[tolerance]",
       "max_ulp is for elementwise operators"},
  };
  for (const BadManifest& bad : table) {
    SCOPED_TRACE(bad.to);
    const std::string text = replaced(softmax_manifest, bad.from, bad.to);
    expect_user_error(bind_error(text), text, bad.at, bad.says);
  }
}

TEST(Kernel, AMissingDimensionIsNamed) {
  const std::string text = replaced(softmax_manifest, "rows = { min = 1, max = 64 }\n", "");
  const Error error = bind_error(replaced(text, "grid = [\"rows\"]", "grid = [\"cols\"]"));
  EXPECT_THAT(error.message, HasSubstr("dimension 'rows' of operator softmax is missing"));
}

TEST(Kernel, ABackwardLaunchNeedsABackwardOperatorAndAGradient) {
  const std::string text =
      std::string(softmax_manifest) +
      "[[launch]]\npass = \"backward\"\nkernel = \"softmax\"\ngrid = [\"rows\"]\nblock = [\"1\"]\n"
      "args = [\"grad_y\", \"y\", \"cols\"]\n";
  EXPECT_THAT(bind_error(text).message, HasSubstr("no backward launch takes a gradient"));
}

TEST(Kernel, AMissingEntryOfThePtxIsAUserError) {
  const Error error =
      bind_error(softmax_manifest, "softmax", ".version 8.0\n.visible .entry other()\n{\nret;\n}\n");
  EXPECT_EQ(error.kind, ErrorKind::user);
  EXPECT_THAT(error.message, HasSubstr("softmax"));
}

TEST(Kernel, WhatNoLaunchNamesIsNotTested) {
  const SoftmaxOnFake fake(right_softmax);
  EXPECT_THAT(fake.kernel->not_tested(), ::testing::ElementsAre("grad_x"));
  EXPECT_FALSE(fake.kernel->space().has_backward);
}

TEST(Plan, SizesGridsAndArgumentsFollowTheDims) {
  const SoftmaxOnFake fake(right_softmax);
  const auto plan = fake.kernel->plan(fake.make_case(5, 33));
  ASSERT_TRUE(plan) << to_string(plan.error());
  ASSERT_EQ(plan->launches.size(), 1u);
  EXPECT_EQ(plan->launches[0].grid.x, 5u);
  EXPECT_EQ(plan->launches[0].block.x, 64u);
  EXPECT_EQ(std::get<Scalar>(plan->launches[0].args[2]).bits, 33u);
  EXPECT_EQ(plan->tensors[0].shape, (std::vector<std::int64_t>{5, 33}));
  EXPECT_EQ(plan->device_bytes, 2u * 5 * 33 * 4);
}

// Pointer, pointer, offset, sizes, strides; a scratch buffer likewise.
TEST(Plan, AMemrefIsWhatMlirPassesForIt) {
  FakeDevice device;
  device.add("softmax", std::vector<std::uint32_t>(19, 8), right_softmax);
  const std::string text = replaced(
      replaced(softmax_manifest, "\"x\", \"y\", \"cols\"]", "\"memref:x\", \"memref:y\", \"memref:work\"]"),
      "[[launch]]",
      "[scratch]\nwork = { shape = [\"cols + 1\"], dtype = \"f32\" }\n[layout]\nx = \"strided\"\n[[launch]]");
  const auto manifest = parse_manifest(text, "k.toml");
  ASSERT_TRUE(manifest) << to_string(manifest.error());
  const auto kernel = Kernel::bind(*manifest, *find_op("softmax"), softmax_ptx, device);
  ASSERT_TRUE(kernel) << to_string(kernel.error());
  Case test_case = SoftmaxOnFake(right_softmax).make_case(5, 33);
  for (TensorInput& input : test_case.inputs)
    if (input.tensor == "x") input.layout.strides = {100, 2};
  const auto plan = (*kernel)->plan(test_case);
  ASSERT_TRUE(plan) << to_string(plan.error());
  std::vector<std::int64_t> values;
  for (const PlannedArgument& argument : plan->launches[0].args)
    values.push_back(std::holds_alternative<Scalar>(argument)
                         ? static_cast<std::int64_t>(std::get<Scalar>(argument).bits)
                         : -1);
  EXPECT_EQ(values,
            (std::vector<std::int64_t>{-1, -1, 0, 5, 33, 100, 2, -1, -1, 0, 5, 33, 33, 1, -1, -1, 0, 34, 1}));
  EXPECT_EQ(std::get<TensorArgument>(plan->launches[0].args[1]).index, 0u);
  EXPECT_EQ(std::get<TensorArgument>(plan->launches[0].args[7]).index, 1u);
  EXPECT_EQ(std::get<ScratchArgument>(plan->launches[0].args[15]).index, 0u);
}

TEST(Plan, AbsurdSizesAreUserErrorsBeforeAnythingIsAllocated) {
  std::string manifest = replaced(softmax_manifest, "max = 64", "max = 1099511627776");
  manifest = replaced(manifest, "max = 512", "max = 1099511627776");
  manifest = replaced(manifest, "block = \"next_pow2(cols)\"", "block = \"32\"");
  const SoftmaxOnFake fake(right_softmax, manifest);
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {std::int64_t{1} << 40, std::int64_t{1} << 40}, {std::int64_t{1} << 40, 1}, {1 << 20, 1 << 10}}) {
    Case test_case = fake.make_case(1, 1);
    test_case.dims = {{"rows", rows}, {"cols", cols}};
    const auto plan = fake.kernel->plan(test_case);
    ASSERT_FALSE(plan) << rows << " x " << cols;
    EXPECT_EQ(plan.error().kind, ErrorKind::user);
  }
  EXPECT_TRUE(fake.device.launches().empty());
}

TEST(Plan, ACaseOutsideTheManifestIsAUserError) {
  const SoftmaxOnFake fake(right_softmax);
  EXPECT_FALSE(fake.kernel->plan(fake.make_case(65, 1)));
  EXPECT_FALSE(fake.kernel->plan(fake.make_case(0, 1)));
  Case test_case = fake.make_case(1, 1);
  test_case.dtype = DType::f16;
  EXPECT_FALSE(fake.kernel->plan(test_case));
}

} // namespace
} // namespace assay::testing
