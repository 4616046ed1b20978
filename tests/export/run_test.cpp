// assay run: the kernel alone on arrays of one's own, by NumPy's archives.
#include "harness/base/files.h"
#include "harness/export/npz.h"
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::FloatNear;
using ::testing::HasSubstr;

template <class T>
NpzArray array_of(const std::string& name, const std::string& descriptor, std::vector<std::int64_t> shape,
                  const std::vector<T>& values) {
  return {name,
          descriptor,
          std::move(shape),
          {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}};
}

std::vector<float> floats_of(const NpzArray& array) {
  std::vector<float> values(array.bytes.size() / sizeof(float));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

std::vector<double> doubles_of(const NpzArray& array) {
  std::vector<double> values(array.bytes.size() / sizeof(double));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

class Run : public ::testing::Test {
 public:
  ProgramRun run(const std::string& kernel, const std::vector<NpzArray>& arrays,
                 const std::vector<std::string>& more = {}) {
    EXPECT_TRUE(write_file(in, *write_npz(arrays)).has_value());
    std::vector<std::string> args{"run", kernel, "--in", in, "--out", out, "--device", "cpu"};
    args.insert(args.end(), more.begin(), more.end());
    return run_assay(args);
  }
  std::vector<NpzArray> written() const { return *read_npz(*read_file(out), out, 1 << 20); }
  // What was written is what the archive has as target_NAME.
  void expect_targets_again(const std::vector<NpzArray>& exported) const {
    for (const NpzArray& array : written()) {
      const auto target = std::ranges::find(exported, "target_" + array.name, &NpzArray::name);
      ASSERT_NE(target, exported.end()) << array.name;
      EXPECT_EQ(target->shape, array.shape);
      if (array.descriptor == "<f4") EXPECT_THAT(floats_of(array), ElementsAreArray(doubles_of(*target)));
    }
  }

  TemporaryFolder folder;
  std::string in = folder / "in.npz", out = folder / "out.npz";
};

TEST_F(Run, GivesTheOutputsOfTheForwardPass) {
  const ProgramRun ran = run("softmax", {array_of<float>("x", "<f4", {2, 2}, {0, 0, std::log(3.0F), 0})});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out, "y f32 [2,2]\n");
  const std::vector<NpzArray> arrays = written();
  ASSERT_EQ(arrays.size(), 1U);
  EXPECT_EQ(arrays[0].name, "y");
  EXPECT_EQ(arrays[0].descriptor, "<f4");
  EXPECT_THAT(floats_of(arrays[0]),
              ElementsAre(0.5F, 0.5F, FloatNear(0.75F, 1e-6F), FloatNear(0.25F, 1e-6F)));
}

TEST_F(Run, GivesTheGradientsWhereAnUpstreamGradientIsGiven) {
  const ProgramRun ran = run("relu", {array_of<float>("x", "<f4", {3}, {-1, 2, 3}),
                                      array_of<float>("grad_y", "<f4", {3}, {5, 6, 7})});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const std::vector<NpzArray> arrays = written();
  ASSERT_EQ(arrays.size(), 1U);
  EXPECT_EQ(arrays[0].name, "grad_x");
  EXPECT_THAT(floats_of(arrays[0]), ElementsAre(0.0F, 6.0F, 7.0F));
}

TEST_F(Run, TakesBitPatterns) {
  // bf16: 1 is 0x3F80, 3 is 0x4040; rstd is 1 / sqrt(5 + 1e-6) = 0.447213...
  const ProgramRun ran = run("rmsnorm",
                             {array_of<std::uint16_t>("x", "<u2", {1, 2}, {0x3F80, 0x4040}),
                              array_of<std::uint16_t>("weight", "<u2", {2}, {0x3F80, 0x3F80})},
                             {"--dtype", "bf16"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  std::uint16_t first = 0;
  for (const NpzArray& array : written())
    if (array.name == "y") std::memcpy(&first, array.bytes.data(), 2);
  EXPECT_EQ(first, 0x3EE5); // 0.447266; the next below is 0.445313
}

TEST_F(Run, TakesParameters) {
  // Equal scores: a query gives the mean of the values that it sees, which if causal is one for the first.
  const NpzArray zeros = array_of<float>("q", "<f4", {1, 1, 2, 1}, {0, 0});
  NpzArray keys = zeros;
  keys.name = "k";
  const ProgramRun ran = run("attention", {zeros, keys, array_of<float>("v", "<f4", {1, 1, 2, 1}, {2, 4}),
                                           array_of<std::int64_t>("causal", "<i8", {}, {1})});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(floats_of(written().at(0)), ElementsAre(2.0F, 3.0F));
}

// The operator's own, with a value that the manifest lets no search choose.
TEST_F(Run, TakesParametersThatTheManifestDoesNotName) {
  const ProgramRun ran = run("rmsnorm", {array_of<float>("x", "<f4", {1, 2}, {1, 3}),
                                         array_of<float>("weight", "<f4", {2}, {1, 1}),
                                         array_of<double>("eps", "<f8", {}, {4})});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  for (const NpzArray& array : written())
    if (array.name == "y")
      EXPECT_THAT(floats_of(array), ElementsAre(FloatNear(1.0F / 3, 1e-6F), FloatNear(1, 1e-6F)));
}

TEST_F(Run, AParameterOutsideWhatTheOperatorAllows) {
  const NpzArray zeros = array_of<float>("q", "<f4", {1, 1, 2, 1}, {0, 0});
  NpzArray keys = zeros, values = zeros;
  keys.name = "k";
  values.name = "v";
  const ProgramRun ran =
      run("attention", {zeros, keys, values, array_of<std::int64_t>("causal", "<i8", {}, {7})});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, HasSubstr("'causal' is one of 0, 1, not 7"));
}

TEST_F(Run, AFaultIsToldAndIsNoSuccess) {
  const ProgramRun ran =
      run("kernels/faulty/sum_reads_past_tail/kernel.toml", {array_of<float>("x", "<f4", {1, 3}, {1, 2, 3})});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, HasSubstr("out_of_bounds in the forward pass"));
}

// The inputs, and what their shapes do not tell: a parameter, a size, the pass.
TEST_F(Run, TakesWhatExportWrites) {
  for (const std::string kernel : {"faulty/attention_causal_to_first_key", "faulty/scatter_stops_at_second",
                                   "faulty/softmax_backward_missing_dot"}) {
    SCOPED_TRACE(kernel);
    const std::string name = kernel.substr(kernel.find('/') + 1);
    const auto stored = *std::filesystem::directory_iterator(checkout() / "corpus" / name);
    const ProgramRun exported =
        run_assay({"export", stored.path().string(), "--format", "npz", "--out", in, "--device", "cpu"});
    ASSERT_EQ(exported.exit, 0) << exported.err;
    const ProgramRun ran =
        run_assay({"run", "kernels/" + kernel + "/kernel.toml", "--in", in, "--out", out, "--device", "cpu"});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    expect_targets_again(*read_npz(*read_file(in), in, 1 << 20));
  }
}

TEST_F(Run, WhatDoesNotFitIsOneLine) {
  const auto fails = [&](const std::vector<NpzArray>& arrays, const std::string& what) {
    const ProgramRun ran = run("rmsnorm", arrays);
    EXPECT_EQ(ran.exit, 2) << what;
    EXPECT_THAT(ran.err, HasSubstr(what));
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  const NpzArray x = array_of<float>("x", "<f4", {1, 2}, {1, 2});
  fails({x}, "has no array 'weight' of shape [2]");
  fails({x, array_of<float>("weight", "<f4", {3}, {1, 2, 3})}, "'weight' has shape [3], where [2] is right");
  fails({x, array_of<double>("weight", "<f8", {2}, {1, 2})}, "the arrays' types fit none of the kernel's");
  fails({x, array_of<float>("wieght", "<f4", {2}, {1, 2})}, "'wieght' is no input");
  fails({x, array_of<std::int64_t>("cols", "<i8", {}, {-2})}, "has no array 'weight'");
  fails({array_of<std::int64_t>("rows", "<i8", {}, {-2})}, "size 'rows' is one int64, 0 or more");
  EXPECT_EQ(run_assay({"run", "rmsnorm", "--in", (checkout() / "README.md").string(), "--out", out}).exit, 2);
}

TEST(npz, what_is_broken_is_refused) {
  const std::string good = *write_npz({array_of<float>("x", "<f4", {2}, {1, 2})});
  ASSERT_TRUE(read_npz(good, "f", 1 << 20).has_value());
  EXPECT_EQ(read_npz(good, "f", 16).error().kind, ErrorKind::user); // over the budget
  for (std::size_t size = 0; size < good.size(); size += 7)
    EXPECT_FALSE(read_npz(std::string_view(good).substr(0, size), "f", 1 << 20).has_value());
  NpzArray lies = array_of<float>("x", "<f4", {3}, {1, 2});
  EXPECT_THAT(read_npz(*write_npz({lies}), "f", 1 << 20).error().message, HasSubstr("8 bytes of values"));
  lies.descriptor = "|O";
  EXPECT_THAT(read_npz(*write_npz({lies}), "f", 1 << 20).error().message, HasSubstr("no plain numbers"));
}

} // namespace
} // namespace assay::testing
