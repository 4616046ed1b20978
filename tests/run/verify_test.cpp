// The four verdicts, each pinned by kernels that are C++ functions: what `assay verify` must say of a fault,
// of ill-conditioned data, of numbers that do not exist, and of nothing at all.
#include "harness/device/graph_replay.h"
#include "harness/inputs/kinds.h"
#include "harness/report/verify.h"
#include "harness/run/verify.h"
#include "tests/run/softmax_fixture.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <limits>
#include <set>
#include <sstream>

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double infinity = std::numeric_limits<double>::infinity();

// A kernel of an operator with dims rows and cols, x and y.
template <class TheDevice = FakeDevice> struct Fake {
  TheDevice device;
  std::unique_ptr<Kernel> kernel;

  Fake(const std::string& op, FakeKernel target, const std::string& dtype = "f32",
       const std::string& cols = "{ min = 0, max = 4096, near = [32] }", const std::string& more = "",
       const std::string& head = "") {
    device.add("k", {8, 8, 4}, std::move(target));
    const std::string text = head + "name = \"fake\"\nop = \"" + op +
                             "\"\nsource = \"fake.ptx\"\ndtypes = [\"" + dtype +
                             "\"]\n[dims]\nrows = { min = 0, max = 64 }\ncols = " + cols +
                             "\n[[launch]]\nkernel = \"k\"\ngrid = [\"max(rows, 1)\"]\nblock = [\"32\"]\n"
                             "args = [\"x\", \"y\", \"cols\"]\n" +
                             more;
    auto manifest = parse_manifest(text, "kernels/fake/kernel.toml");
    if (!manifest) throw std::runtime_error(to_string(manifest.error()));
    auto loaded = Kernel::bind(*std::move(manifest), *find_op(op),
                               ".version 8.0\n.target sm_90\n.visible .entry k()\n{\nret;\n}\n", device);
    if (!loaded) throw std::runtime_error(to_string(loaded.error()));
    kernel = *std::move(loaded);
  }

  // x: a distribution, then single elements "[0,5] = -5e8" of the first row.
  Case make_case(std::int64_t rows, std::int64_t cols, const std::string& distribution,
                 const std::vector<std::pair<std::int64_t, float>>& elements = {}) const {
    Case result;
    result.manifest = kernel->space().manifest;
    result.dtype = kernel->space().dtypes.front();
    result.dims = {{"rows", rows}, {"cols", cols}};
    result.tolerance = kernel->space().tolerance;
    TensorInput x;
    x.tensor = "x";
    x.distribution = parse_distribution(distribution, {}).value();
    x.seed = static_cast<std::uint64_t>(rows * 1000 + cols);
    for (std::int64_t row = 0; row < rows; ++row)
      for (const auto& [column, value] : elements)
        x.overrides.push_back({{row, column}, std::bit_cast<std::uint32_t>(value)});
    result.inputs = {x};
    return result;
  }

  VerifyReport verified(const std::vector<Case>& cases) const {
    VerifyCases some;
    for (const Case& one : cases) some.cases.push_back({one, true});
    auto report = verify(*kernel, some);
    if (!report) throw std::runtime_error(to_string(report.error()));
    return *std::move(report);
  }
  VerifyReport verified() const {
    auto report = verify(*kernel);
    if (!report) throw std::runtime_error(to_string(report.error()));
    return *std::move(report);
  }
};

// y[row] = sum_of(row of x).
template <class T> FakeKernel each_row(const std::function<T(std::span<const T>)>& sum_of) {
  return [sum_of](FakeLaunch& launch) {
    const auto x = launch.buffer<T>(0);
    const auto y = launch.buffer<T>(1);
    const auto cols = static_cast<std::size_t>(launch.scalar<std::int32_t>(2));
    for (std::size_t row = 0; row < y.size(); ++row) y[row] = sum_of(x.subspan(row * cols, cols));
  };
}

float forwards(std::span<const float> row) {
  float sum = 0;
  for (const float v : row) sum += v;
  return sum;
}

// Another legal order: from the last to the first.
float backwards(std::span<const float> row) {
  float sum = 0;
  for (std::size_t i = row.size(); i-- > 0;) sum += row[i];
  return sum;
}

double exactly(std::span<const float> row) {
  double sum = 0;
  for (const float v : row) sum += v;
  return sum;
}

FakeKernel right_sum() { return each_row<float>(backwards); }

// 5e8 + N(0, 1) ... - 5e8 + N(0, 1) ...: sum|term| is about 1e9, the sum about 10: condition 1e8.
const std::vector<std::pair<std::int64_t, float>> huge_pair{{0, 5e8f}, {5, -5e8f}};
constexpr const char* normal = "normal(mean=0, stddev=1)";
constexpr const char* near_one = "all_positive(scale=1)";

TEST(Verify, ARightKernelPassesWhereEveryGateIsValid) {
  const Fake<> fake("sum", right_sum());
  const VerifyReport report = fake.verified({fake.make_case(8, 64, near_one), fake.make_case(1, 1, normal)});
  EXPECT_EQ(report.verdict, Verdict::pass);
  ASSERT_THAT(report.rows, SizeIs(1));
  EXPECT_EQ(report.rows[0].name, "y");
  EXPECT_EQ(report.rows[0].cases, 2);
  EXPECT_EQ(report.rows[0].judged, 9);
  EXPECT_EQ(report.repeated, 2);
  EXPECT_THAT(report.findings, IsEmpty());
}

TEST(Verify, ARightKernelPassesItsWholeFixedSet) {
  const Fake<> fake("sum", right_sum());
  const VerifyReport report = fake.verified();
  EXPECT_EQ(report.verdict, Verdict::pass_with_limitations) << verify_text(report);
  EXPECT_THAT(report.rows[0].why, HasSubstr("overflows")) << "x largest";
  EXPECT_GT(report.cases, 60);
  EXPECT_EQ(exit_code(report.verdict), 0);
}

TEST(Verify, AWellConditionedFaultFails) {
  const Fake<> fake("sum", each_row<float>([](auto row) { return forwards(row.first(row.size() - 1)); }));
  const VerifyReport report = fake.verified({fake.make_case(8, 64, near_one)});
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_EQ(report.rows[0].verdict, Verdict::fail);
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].finding.signature.kind, Kind::gate);
  EXPECT_EQ(exit_code(report.verdict), 1);
}

TEST(Verify, ConditionOfOneHundredMillionThatFollowsTheNoisePassesWithLimitations) {
  const Fake<> fake("sum", right_sum());
  const VerifyReport report = fake.verified({fake.make_case(4, 64, normal, huge_pair)});
  EXPECT_EQ(report.verdict, Verdict::pass_with_limitations) << verify_text(report);
  ASSERT_THAT(report.invalid_gates, SizeIs(1)) << verify_text(report);
  const Analysis& analysis = report.invalid_gates[0].analysis;
  EXPECT_GT(analysis.condition, 1e7);
  EXPECT_GT(analysis.spread, 1);
  EXPECT_EQ(analysis.dim, "cols");
  EXPECT_THAT(analysis.lengths, SizeIs(5));
  EXPECT_EQ(analysis.cases, 16 + 5 * 8);
  EXPECT_TRUE(analysis.target.valid);
  EXPECT_THAT(report.rows[0].why, HasSubstr("1 kinds of data make the gate invalid"));
}

TEST(Verify, ConditionOfOneHundredMillionWithABiasOfItsOwnFails) {
  // About the size of the legal errors (a unit of 5e8 is 32), but always upwards.
  const Fake<> fake("sum", each_row<float>([](auto row) { return static_cast<float>(exactly(row) + 40); }));
  const VerifyReport report = fake.verified({fake.make_case(4, 64, normal, huge_pair)});
  EXPECT_EQ(report.verdict, Verdict::fail) << verify_text(report);
  EXPECT_THAT(report.findings, IsEmpty()) << "the gate accuses nobody there";
  ASSERT_THAT(report.invalid_gates, SizeIs(1)) << verify_text(report);
  EXPECT_EQ(report.invalid_gates[0].analysis.verdict, Verdict::fail);
}

TEST(Verify, BeyondWhatFloatCanDoFailsThoughTheGateIsNotValid) {
  // (n - 1) u sum|term| is about 63 * 6e-8 * 1e9 = 3,755.
  const Fake<> fake("sum", each_row<float>([](auto row) { return static_cast<float>(exactly(row) + 1e4); }));
  const VerifyReport report = fake.verified({fake.make_case(4, 64, normal, huge_pair)});
  EXPECT_EQ(report.verdict, Verdict::fail);
  ASSERT_THAT(report.invalid_gates, SizeIs(1)) << verify_text(report);
  EXPECT_THAT(report.invalid_gates[0].analysis.why, HasSubstr("rigorous bound"));
}

TEST(Verify, WhereNothingCanBeConcludedItIsInconclusive) {
  // One input without a seed, one length: above every legal order, below the bound 5 u 1e9 = 298.
  const Fake<> fake("sum", each_row<float>([](auto row) { return static_cast<float>(exactly(row) + 280); }),
                    "f32", "6");
  const VerifyReport report = fake.verified({fake.make_case(1, 6, "constant(value=1)", huge_pair)});
  EXPECT_EQ(report.verdict, Verdict::inconclusive) << verify_text(report);
  ASSERT_THAT(report.invalid_gates, SizeIs(1)) << verify_text(report);
  EXPECT_THAT(report.invalid_gates[0].analysis.why, HasSubstr("too few seeds"));
  EXPECT_EQ(exit_code(report.verdict), 3);
}

TEST(Verify, OverflowingGoldensProveNothing) {
  const Fake<> fake("sum", right_sum());
  const Case overflowing = fake.make_case(1, 2, "zero()", {{0, 3e38f}, {1, 3e38f}}); // 6e38: no float
  const VerifyReport alone = fake.verified({overflowing});
  EXPECT_EQ(alone.verdict, Verdict::inconclusive);
  EXPECT_THAT(alone.rows[0].why, HasSubstr("no element was judged"));
  const VerifyReport beside = fake.verified({overflowing, fake.make_case(1, 8, near_one)});
  EXPECT_EQ(beside.verdict, Verdict::pass_with_limitations);
  EXPECT_THAT(beside.rows[0].why, HasSubstr("overflows at 1 elements of 1 cases"));
}

TEST(Verify, AFormulaThatOverflowsWhereTheGoldenDoesNotProvesNothing) {
  // 3e38 + 3e38 - 3e38 is 3e38, and infinite from left to right.
  const std::vector<std::pair<std::int64_t, float>> elements{{0, 3e38f}, {1, 3e38f}, {2, -3e38f}};
  const Fake<> fake("sum", each_row<float>(forwards));
  const VerifyReport report =
      fake.verified({fake.make_case(1, 3, "zero()", elements), fake.make_case(1, 8, near_one)});
  EXPECT_EQ(report.verdict, Verdict::pass_with_limitations) << verify_text(report);
  EXPECT_EQ(report.rows[0].overflows, 1);
  EXPECT_EQ(report.rows[0].judged, 1);
}

TEST(Verify, NaNInputsMustComeOutAsNaN) {
  const std::vector<std::pair<std::int64_t, float>> nan{{1, std::numeric_limits<float>::quiet_NaN()}};
  const Fake<> right("sum", right_sum());
  const auto cases = [&](const Fake<>& fake) {
    return std::vector{fake.make_case(1, 3, normal, nan), fake.make_case(1, 8, near_one)};
  };
  EXPECT_EQ(right.verified(cases(right)).verdict, Verdict::pass);
  const VerifyReport only = right.verified({right.make_case(1, 3, normal, nan)});
  EXPECT_EQ(only.verdict, Verdict::inconclusive) << "no number was judged";
  const Fake<> drops("sum", each_row<float>([](auto row) {
                       float sum = 0;
                       for (const float v : row) sum += std::isnan(v) ? 0 : v;
                       return sum;
                     }));
  const VerifyReport report = drops.verified(cases(drops));
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_EQ(report.findings[0].finding.signature.kind, Kind::structure);
}

TEST(Verify, EmptyAndOneElementOutputs) {
  const Fake<> fake("sum", right_sum());
  const Case empty = fake.make_case(0, 8, normal);
  EXPECT_EQ(fake.verified({empty}).verdict, Verdict::inconclusive) << "nothing was judged";
  EXPECT_EQ(fake.verified({empty, fake.make_case(1, 1, normal)}).verdict, Verdict::pass);
}

TEST(Verify, NoCasesAtAllAreNoPass) {
  const Fake<> fake("sum", right_sum());
  const VerifyReport report = fake.verified(std::vector<Case>{});
  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_THAT(verify_text(report), HasSubstr("no output was judged"));
}

TEST(Verify, AllZeroTensors) {
  const Fake<> right("sum", right_sum());
  const VerifyReport report = right.verified({right.make_case(4, 8, "zero()")});
  EXPECT_EQ(report.verdict, Verdict::pass);
  EXPECT_EQ(report.rows[0].worst.comparison.gate.threshold, 0);
  const Fake<> wrong("sum", each_row<float>([](auto) { return 1e-3f; }));
  EXPECT_EQ(wrong.verified({wrong.make_case(4, 8, "zero()")}).verdict, Verdict::fail);
}

TEST(Verify, WhereTheReferenceIsExactTheThresholdIsTheRoundingFloor) {
  const Fake<> right("sum", right_sum());
  const VerifyReport report = right.verified({right.make_case(4, 1, normal)});
  EXPECT_EQ(report.verdict, Verdict::pass);
  EXPECT_EQ(report.rows[0].worst.comparison.gate.reference_error, 0);
  EXPECT_EQ(report.rows[0].worst.comparison.gate.threshold, 0);
  const Fake<> bit_off("sum", each_row<float>([](auto row) { return row[0] * (1 + 0x1p-23f); }));
  EXPECT_EQ(bit_off.verified({bit_off.make_case(4, 1, normal)}).verdict, Verdict::fail);
}

TEST(Verify, F64KernelsAreJudgedAsF64) {
  const Fake<> right("sum", each_row<double>([](auto row) {
                       double sum = 0;
                       for (std::size_t i = row.size(); i-- > 0;) sum += row[i];
                       return sum;
                     }),
                     "f64");
  EXPECT_EQ(right.verified({right.make_case(4, 64, near_one)}).verdict, Verdict::pass);
  const Fake<> in_float("sum", each_row<double>([](auto row) {
                          float sum = 0;
                          for (const double v : row) sum += static_cast<float>(v);
                          return static_cast<double>(sum);
                        }),
                        "f64");
  EXPECT_EQ(in_float.verified({in_float.make_case(4, 64, near_one)}).verdict, Verdict::fail);
}

TEST(Verify, ExactOutputsAreExact) {
  const auto largest = [](std::span<const float> row) { return maximum(row); };
  const Fake<> right("max", each_row<float>(largest), "f32", "{ min = 1, max = 512, near = [32] }");
  const VerifyReport report = right.verified();
  EXPECT_EQ(report.verdict, Verdict::pass) << verify_text(report);
  EXPECT_TRUE(report.rows[0].worst.exact);
  const Fake<> wrong("max", each_row<float>([](auto row) {
                       return maximum(row.first(std::max<std::size_t>(row.size(), 2) - 1));
                     }),
                     "f32", "{ min = 1, max = 512, near = [32] }");
  EXPECT_EQ(wrong.verified().verdict, Verdict::fail);
}

TEST(Verify, TheWholeSetOfSoftmaxOnTheFakeDevice) {
  const SoftmaxOnFake right(right_softmax), naive(naive_softmax);
  const auto report = verify(*right.kernel);
  ASSERT_TRUE(report);
  EXPECT_LE(report->verdict, Verdict::pass_with_limitations) << verify_text(*report);
  EXPECT_EQ(verify(*naive.kernel)->verdict, Verdict::fail);
}

TEST(Verify, DeclaredRmsLimitIsAGate) {
  // Every element as far off as the reference at its worst: inside the gate, not on average.
  const FakeKernel off = each_row<float>([](std::span<const float> row) {
    const float sum = static_cast<float>(exactly(row));
    return sum * (1 + 0x1p-22f);
  });
  const std::string limit = "[tolerance]\nrms_limit = 1.5\nfudge = 100\n";
  const Fake<> without("sum", off, "f32", "{ min = 0, max = 4096 }", "[tolerance]\nfudge = 100\n");
  const Fake<> with("sum", off, "f32", "{ min = 0, max = 4096 }", limit);
  EXPECT_EQ(without.verified({without.make_case(64, 4, near_one)}).verdict, Verdict::pass);
  const VerifyReport report = with.verified({with.make_case(64, 4, near_one)});
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_THAT(report.findings[0].finding.message, HasSubstr("RMS error of y"));
  // In a campaign too, and when its case is shrunk or replayed.
  const auto judged = judge(*with.kernel, with.make_case(64, 4, near_one));
  ASSERT_TRUE(judged);
  ASSERT_THAT(judged->findings, SizeIs(1));
  const auto severity = shows(*with.kernel, with.make_case(64, 4, near_one), judged->findings[0].signature);
  ASSERT_TRUE(severity);
  EXPECT_EQ(*severity, judged->findings[0].severity);
}

const Contract& contract(const VerifyReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.contracts, name, &Contract::name);
  if (found == report.contracts.end()) throw std::runtime_error("no such contract");
  return *found;
}
constexpr const char* in_graph = "replayable in a CUDA graph";

TEST(Contracts, EachIsToldWhetherItHeld) {
  const Fake<> right("sum", right_sum());
  const VerifyReport report = right.verified({right.make_case(4, 8, near_one)});
  EXPECT_EQ(contract(report, "inputs unmodified").state, ContractState::held);
  EXPECT_EQ(contract(report, "every output element written").state, ContractState::held);
  EXPECT_EQ(contract(report, in_graph).state, ContractState::not_tested);
  EXPECT_THAT(verify_text(report), HasSubstr("replayable in a CUDA graph: not tested, needs a GPU"));
  const auto json = nlohmann::json::parse(verify_json({&report, 1}));
  EXPECT_EQ(json["contracts"][0]["held"], true);
  EXPECT_TRUE(json["contracts"][2]["held"].is_null());
}

TEST(Contracts, AnElementThatIsNotWrittenBreaksOne) {
  const Fake<> fake("sum", [](FakeLaunch& launch) {
    const auto y = launch.buffer<float>(1);
    for (std::size_t i = 0; i + 1 < y.size(); ++i) y[i] = 0;
  });
  const VerifyReport report = fake.verified({fake.make_case(4, 8, "constant(value=0)")});
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_EQ(contract(report, "every output element written").state, ContractState::broken);
  EXPECT_THAT(contract(report, "every output element written").why, HasSubstr("y[3]"));
}

// A device that has graphs, and says of every replay what it was told to say.
class GraphDevice : public FakeDevice, public GraphReplay {
 public:
  Outcome outcome;
  int replays = 0;
  Result<Outcome> replay_in_graph(Program&, std::span<const LaunchSpec>) override {
    ++replays;
    return outcome;
  }
};

TEST(Contracts, WhatAGraphDoesDecides) {
  Fake<GraphDevice> fake("sum", right_sum());
  const std::vector<Case> cases = {fake.make_case(4, 8, near_one), fake.make_case(2, 3, near_one)};
  VerifyReport report = fake.verified(cases);
  EXPECT_EQ(report.verdict, Verdict::pass);
  EXPECT_EQ(contract(report, in_graph).state, ContractState::held);
  EXPECT_EQ(contract(report, in_graph).why, "2 cases, each replayed twice");
  EXPECT_EQ(fake.device.replays, 2);

  fake.device.outcome = {.broken = "y[1] is not what it was", .other_bits = true};
  report = fake.verified(cases);
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_EQ(contract(report, in_graph).why, "y[1] is not what it was (forward f32 rows=4 cols=8)");
  EXPECT_THAT(verify_text(report), HasSubstr("replayable in a CUDA graph: BROKEN"));

  fake.device.outcome = {.broken = {}, .steady = false};
  report = fake.verified(cases);
  EXPECT_EQ(report.verdict, Verdict::pass);
  EXPECT_THAT(contract(report, in_graph).why, HasSubstr("in 2 the bits differ from run to run anyway"));
}

TEST(Contracts, OtherBitsInAGraphAreNoFaultWhereTheKernelMayDiffer) {
  Fake<GraphDevice> fake("sum", right_sum(), "f32", "{ min = 0, max = 4096 }", "", "deterministic = false\n");
  fake.device.outcome = {.broken = "y[1] is not what it was", .other_bits = true};
  EXPECT_EQ(fake.verified({fake.make_case(4, 8, near_one)}).verdict, Verdict::pass);
  fake.device.outcome = {.broken = "the launches cannot be captured"};
  EXPECT_EQ(fake.verified({fake.make_case(4, 8, near_one)}).verdict, Verdict::fail);
}

TEST(CaseVerdict, NeverAPassWithAThresholdThatIsNotFinite) {
  for (const double threshold : {infinity, std::numeric_limits<double>::quiet_NaN()}) {
    TensorReport report;
    report.comparison.structure.judged = 1;
    report.comparison.gate.threshold = threshold;
    EXPECT_EQ(case_verdict(report, false, false), Verdict::inconclusive);
    EXPECT_EQ(case_verdict(report, false, true), Verdict::inconclusive);
    EXPECT_EQ(case_verdict(report, true, false), Verdict::fail);
    report.comparison.gate.threshold = 1;
    EXPECT_EQ(case_verdict(report, false, false), Verdict::pass);
    report.comparison.gate.lines.line = 0;
    report.comparison.gate.lines.threshold = threshold;
    EXPECT_EQ(case_verdict(report, false, false), Verdict::inconclusive);
  }
}

TEST(VerifyCases, EveryTypePassAndDistributionAndEveryTileEdge) {
  const SoftmaxOnFake fake(right_softmax); // rows 1..64, cols 1..512 with tiles 8 and 32
  const VerifyCases cases = verify_cases(fake.kernel->space());
  std::set<std::int64_t> cols;
  std::set<std::string> kinds;
  for (const VerifyCase& one : cases.cases) {
    cols.insert(one.test_case.dims[1].second);
    kinds.insert(one.test_case.inputs[0].distribution.kind);
    EXPECT_TRUE(check_case(one.test_case, fake.kernel->space()));
  }
  for (const std::int64_t size : {1, 7, 8, 9, 31, 32, 33}) EXPECT_TRUE(cols.contains(size)) << size;
  std::size_t real = 0;
  for (const DistributionRule& rule : distribution_rules())
    real += fits(rule.kind, fake.kernel->space().inputs[0].domain);
  EXPECT_EQ(kinds.size(), real);
}

TEST(VerifyReport, FitsOneHundredColumnsAndIsJson) {
  const Fake<> fake("sum", right_sum());
  const VerifyReport report =
      fake.verified({fake.make_case(4, 64, normal, huge_pair), fake.make_case(8, 8, near_one)});
  const std::string text = verify_text(report);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_THAT(text, HasSubstr("fake PASS WITH LIMITATIONS"));
  EXPECT_THAT(text, HasSubstr("Not covered"));
  const auto json = nlohmann::json::parse(verify_json({&report, 1}));
  EXPECT_EQ(json["verdict"], "PASS WITH LIMITATIONS");
  ASSERT_EQ(json["tensors"].size(), 1u);
  for (const char* field : {"pass", "tensor", "dtype", "dims", "reference_error", "condition", "target_error",
                            "threshold", "rms_ratio", "bias_ulp", "gate_valid", "verdict"})
    EXPECT_TRUE(json["tensors"][0].contains(field)) << field;
  EXPECT_EQ(json["tensors"][0]["gate_valid"], false);
  EXPECT_EQ(json["invalid_gates"][0]["lengths"].size(), 5u);
  EXPECT_TRUE(json["tested"].is_object());
  EXPECT_TRUE(json["not_covered"].is_array());
}

} // namespace
} // namespace assay::testing
