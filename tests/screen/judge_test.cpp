// The screen's judge against the host's: NVRTC's PTX of it, run on the CPU device, beside golden, reference
// and gates of the host. The screen may send a case to the host for any reason, but where it calls one clean
// the host must have nothing against it.
//
// ASSAY_JUDGE_ALL=1: every type of every operator, and more draws (minutes; harness/screen/README.md has the
// figures).
#include "harness/screen/source.h"
#include "tests/screen/judged.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

namespace assay::testing {
namespace {

// Sizes by the dims' names: small ones, and odd ones with lines of several shapes.
std::vector<std::int64_t> dims_of(const OpInfo& info, int shape) {
  const std::map<std::string_view, std::array<std::int64_t, 3>> sizes = {
      {"rows", {3, 70, 1}},    {"cols", {37, 3, 300}},    {"n", {5, 333, 1}},
      {"m", {5, 3, 1}},        {"k", {19, 40, 70}},       {"batch", {2, 1, 1}},
      {"heads", {2, 1, 2}},    {"q_heads", {2, 1, 3}},    {"k_heads", {1, 2, 1}},
      {"tokens", {3, 7, 1}},   {"head_dim", {6, 16, 34}}, {"max_position", {9, 4, 33}},
      {"q_len", {5, 2, 1}},    {"kv_len", {7, 33, 65}},   {"table_rows", {4, 9, 2}},
      {"channels", {3, 2, 5}}, {"length", {17, 40, 5}},   {"width", {4, 2, 3}},
      {"vocab", {37, 3, 300}}, {"classes", {37, 3, 300}},
  };
  std::vector<std::int64_t> dims;
  for (const DimInfo& dim : info.dims) {
    const std::int64_t size = std::max(sizes.at(dim.name)[static_cast<std::size_t>(shape)], dim.min);
    dims.push_back((size + dim.multiple_of - 1) / dim.multiple_of * dim.multiple_of);
  }
  return dims;
}

struct Tally {
  int right = 0, clean = 0;     // right targets on plain draws
  int hard = 0, hard_clean = 0; // and on all others
  int far = 0, far_clean = 0;   // right targets of which no number that the host sees comes near a limit
  int wrong = 0, suspect = 0;   // targets that are wrong, and those that the host suspects
  std::map<std::uint32_t, int> reasons; // why those far from every limit were not clean
  double worst_units = 0;               // reference against the host's, in float units of the magnitude
};

std::string reasons_text(const std::map<std::uint32_t, int>& reasons) {
  constexpr const char* names[] = {"misplaced", "mismatch",   "gate_close",   "gate_invalid", "overflow",
                                   "ulp_close", "bias_close", "line_unclear", "no_scratch"};
  std::string text;
  for (const auto& [bits, count] : reasons) {
    text += fmt::format(" {}x", count);
    for (unsigned i = 0; i < std::size(names); ++i)
      if (bits >> i & 1) text += fmt::format(" {}", names[i]);
    text += ";";
  }
  return text;
}

class Beside {
 public:
  Beside(const Op& op, Pass pass, DType dtype) : op_(op), pass_(pass), dtype_(dtype) {}

  void run(int draws, int shapes) {
    const Result<PtxSource> program =
        judging_source({op_.info().name, pass_, dtype_, true}, default_cache_dir());
    ASSERT_TRUE(program.has_value()) << to_string(program.error());
    functions_ = has_functions(*program);
    for (int shape = 0; shape < shapes; ++shape) {
      Tolerance tolerance;
      tolerance.flush_subnormals = shape == 1;
      if (shape == 2) tolerance.fudge = 1, tolerance.atol = 1e-6;
      Judged judged(op_, pass_, dtype_, dims_of(op_.info(), shape), tolerance, shape == 1);
      Rng rng(7919 * static_cast<std::uint64_t>(shape) + 1);
      for (int draw = 0; draw < draws; ++draw) {
        judged.draw(rng, draw % 3 == 0);
        judged.add_targets(rng);
      }
      const std::vector<ScreenVerdict> verdicts =
          judged.by_screen(*program, shape == 1 ? screen::most_judge_threads : 0);
      for (std::size_t k = 0; k < verdicts.size(); ++k) check(judged, k, verdicts[k]);
    }
    fmt::print(
        "{:18} {:8} {:4} right {:3} of {:3} clean, hard {:3} of {:3}, far {:3} of {:3}; wrong {:4}, host "
        "suspects {:4}; reference {:.2g};{}\n",
        op_.info().name, pass_ == Pass::forward ? "forward" : "backward", name_of(dtype_), tally_.clean,
        tally_.right, tally_.hard_clean, tally_.hard, tally_.far_clean, tally_.far, tally_.wrong,
        tally_.suspect, tally_.worst_units, reasons_text(tally_.reasons));
  }
  const Tally& tally() const { return tally_; }

 private:
  void check(const Judged& judged, std::size_t k, const ScreenVerdict& verdict) {
    const Target& target = judged.targets()[k];
    const bool plain = target.draw % 3 == 0, clean = verdict.record.reasons == 0;
    const std::string where = fmt::format("{} {} {}: target {}, inputs {}", op_.info().name,
                                          pass_ == Pass::forward ? "forward" : "backward", name_of(dtype_),
                                          target.name, judged.description(target.draw));
    ASSERT_EQ(verdict.record.reasons & screen::no_scratch, 0u) << where;
    ASSERT_EQ(verdict.record.reasons & screen::not_judged, 0u) << where;
    const HostVerdict host = judged.by_host(k, functions_ ? &verdict : nullptr);
    if (target.right) {
      (plain ? tally_.right : tally_.hard) += 1;
      (plain ? tally_.clean : tally_.hard_clean) += clean;
      if (!host.near) {
        tally_.far += 1;
        tally_.far_clean += clean;
        if (!clean) tally_.reasons[verdict.record.reasons] += 1;
        if (!clean && std::getenv("ASSAY_JUDGE_WHY")) fmt::print("{}\n", where);
      }
      golden_within_bounds(judged, target.draw, verdict, where);
      reference_alike(judged, target.draw, verdict, where);
    } else {
      tally_.wrong += 1;
      tally_.suspect += host.suspect;
    }
    ASSERT_FALSE(clean && host.suspect) << where << ": the host says " << host.why;
    if (clean && host.judged) same_numbers(judged, verdict, host, where);
  }

  void golden_within_bounds(const Judged& judged, std::size_t draw, const ScreenVerdict& verdict,
                            const std::string& where) {
    const Trial& trial = judged.trial(draw);
    for (std::size_t i = 0; i < trial.tensors.size(); ++i) {
      if (!is_float(trial.tensors[i].dtype)) continue;
      const Evaluated& host = trial.golden[i];
      for (std::size_t e = 0; e < host.value.size(); ++e) {
        const double bound = judged.plan().golden_unit * verdict.magnitude[i][e] + host.bound[e];
        if (!std::isfinite(bound)) continue;
        const double g = verdict.golden[i][e], h = host.value[e];
        if (!std::isfinite(g) || !std::isfinite(h)) {
          ASSERT_TRUE(g == h || (g != g && h != h)) << where << " [" << e << "] " << g << " for " << h;
          continue;
        }
        const double low = host.value_low.empty() ? 0 : host.value_low[e];
        ASSERT_LE(std::fabs((g - h) + (verdict.golden_low[i][e] - low)), bound)
            << where << " [" << e << "] " << g << " for " << h;
      }
    }
  }

  // The host's bits, or where there are functions something as near to the golden in the arithmetic's units.
  void reference_alike(const Judged& judged, std::size_t draw, const ScreenVerdict& verdict,
                       const std::string& where) {
    const Trial& trial = judged.trial(draw);
    for (std::size_t i = 0; i < trial.tensors.size(); ++i) {
      if (verdict.reference[i].empty()) continue;
      for (std::size_t e = 0; e < trial.reference[i].value.size(); ++e) {
        const double r = verdict.reference[i][e], h = trial.reference[i].value[e];
        if (r == h || (r != r && h != h)) continue;
        ASSERT_TRUE(functions_) << where << " [" << e << "] " << r << " for " << h;
        const double unit = dtype_ == DType::f64 ? 0x1p-53 : 0x1p-24;
        const double magnitude = trial.golden[i].magnitude[e];
        if (std::isfinite(r - h) && magnitude > 0 && !trial.golden[i].formula_overflows[e])
          tally_.worst_units = std::max(tally_.worst_units, std::fabs(r - h) / (unit * magnitude));
      }
    }
  }

  void same_numbers(const Judged& judged, const ScreenVerdict& verdict, const HostVerdict& host,
                    const std::string& where) {
    for (std::size_t i = 0; i < host.outputs.size(); ++i) {
      const screen::OutputRecord& record = verdict.record.outputs[i];
      const Gate& gate = host.outputs[i].gate;
      double largest = 0; // how far the two goldens may lie apart
      for (std::size_t e = 0; e < verdict.magnitude[i].size(); ++e)
        largest = std::max(largest, verdict.magnitude[i][e]);
      const double slack =
          std::isfinite(largest) ? 2 * judged.plan().golden_unit * largest + gate.golden_bound : 0;
      const auto near = [&](double a, double b, const char* what) {
        ASSERT_LE(std::fabs(a - b), 4e-6 * std::fabs(b) + slack + 1e-300)
            << where << ": " << what << " of output " << i;
      };
      near(record.target_error, gate.target_error, "target error");
      near(record.reference_error, gate.reference_error, "reference error");
      if (slack * 100 > gate.threshold) continue;
      near(record.ratio * gate.threshold, gate.ratio * gate.threshold, "ratio");
    }
  }

  const Op& op_;
  Pass pass_;
  DType dtype_;
  bool functions_ = false;
  Tally tally_;
};

// erf and erfc of f64 cases are evaluated in long double, which a GPU has not; and of layernorm backward in
// double-doubles there are more values at once than the CPU device's stack holds.
bool refused(const Op& op, Pass pass, DType dtype) {
  if (dtype != DType::f64) return false;
  return op.info().name == "gelu_erf" || (op.info().name == "layernorm" && pass == Pass::backward);
}

class JudgeTest : public ::testing::TestWithParam<const Op*> {};

TEST_P(JudgeTest, NeverCleanWhereTheHostSuspects) {
  const Op& op = *GetParam();
  const bool all = std::getenv("ASSAY_JUDGE_ALL") != nullptr;
  constexpr std::string_view in_every_type[] = {"sum"};
  const bool every_type = all || std::ranges::find(in_every_type, op.info().name) != std::end(in_every_type);
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    if (pass == Pass::backward && !op.info().has_backward) continue;
    for (const DType dtype : {DType::bf16, DType::f32, DType::f16, DType::f64}) {
      if ((!every_type && dtype != DType::bf16) || refused(op, pass, dtype)) continue;
      Beside beside(op, pass, dtype);
      beside.run(all ? 6 : 3, all ? 3 : 2);
      if (HasFatalFailure()) return;
      EXPECT_GE(beside.tally().far_clean * 3, beside.tally().far * 2)
          << "a sieve that says little is useless";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, JudgeTest, ::testing::ValuesIn(all_ops()),
                         [](const auto& param) { return param.param->info().name; });

// What the tests keep of each golden changes nothing of what is said.
TEST(JudgingSource, SaysTheSameWithoutKeptGoldens) {
  const Op& op = *find_op("offset_rmsnorm");
  Judged judged(op, Pass::forward, DType::bf16, {4, 100}, {}, false);
  Rng rng(5);
  for (int draw = 0; draw < 3; ++draw) {
    judged.draw(rng, draw == 0);
    judged.add_targets(rng);
  }
  const auto records = [&](bool keeps_golden) {
    const auto program =
        judging_source({op.info().name, Pass::forward, DType::bf16, keeps_golden}, default_cache_dir());
    std::vector<screen::Record> result;
    for (const ScreenVerdict& verdict : judged.by_screen(*program)) result.push_back(verdict.record);
    return result;
  };
  const auto with = records(true), without = records(false);
  ASSERT_EQ(with.size(), without.size());
  EXPECT_EQ(std::memcmp(with.data(), without.data(), with.size() * sizeof(screen::Record)), 0);
}

// Lines of a quarter of a warp, of a warp and of the whole block.
TEST(JudgingSource, SaysTheSameHoweverManyThreadsShareALine) {
  const Op& op = *find_op("offset_rmsnorm");
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const auto program = judging_source({op.info().name, pass, DType::bf16, true}, default_cache_dir());
    ASSERT_TRUE(program.has_value()) << to_string(program.error());
    Judged judged(op, pass, DType::bf16, {9, 150}, {}, false);
    Rng rng(6);
    judged.draw(rng, true);
    judged.add_targets(rng);
    const std::vector<ScreenVerdict> quarters = judged.by_screen(*program, 64);
    for (const std::uint32_t threads : {256U, 512U}) {
      const std::vector<ScreenVerdict> others = judged.by_screen(*program, threads);
      ASSERT_EQ(others.size(), quarters.size());
      for (std::size_t k = 0; k < others.size(); ++k) {
        EXPECT_EQ(others[k].record.reasons, quarters[k].record.reasons);
        EXPECT_EQ(others[k].reference, quarters[k].reference);
        for (int o = 0; o < screen::max_outputs; ++o)
          EXPECT_FLOAT_EQ(others[k].record.outputs[o].line_ratio, quarters[k].record.outputs[o].line_ratio);
      }
    }
  }
}

// The first golden cannot tell NaN that was handed in from an overflow; the careful one that follows can.
TEST(JudgingSource, SpecialsThatGoldenReferenceAndTargetShareAreClean) {
  const Op& op = *find_op("offset_rmsnorm");
  const auto program =
      judging_source({op.info().name, Pass::forward, DType::bf16, true}, default_cache_dir());
  ASSERT_TRUE(program.has_value()) << to_string(program.error());
  Judged judged(op, Pass::forward, DType::bf16, {4, 60}, {}, false);
  Rng rng(1);
  std::set<std::size_t> special;
  for (std::size_t draw = 0; special.size() < 3 && draw < 400; ++draw) {
    judged.draw(rng, false);
    if (std::ranges::none_of(judged.trial(draw).golden[0].value, [](double y) { return std::isnan(y); }))
      continue;
    special.insert(draw);
    judged.add_targets(rng);
  }
  ASSERT_EQ(special.size(), 3U);
  const std::vector<ScreenVerdict> verdicts = judged.by_screen(*program);
  std::set<std::size_t> clean;
  for (std::size_t k = 0; k < verdicts.size(); ++k)
    if (const Target& target = judged.targets()[k]; verdicts[k].record.reasons == 0) {
      clean.insert(target.draw);
      EXPECT_FALSE(judged.by_host(k).suspect) << target.name;
    }
  EXPECT_EQ(clean, special);
}

// By whose bits the judge gives a line to one thread, whose neighbours then read side by side.
TEST(CasePlan, InnerDimsAreTheLastAxesOfLargeTensors) {
  const auto inner = [](std::string_view name, std::vector<std::int64_t> dims) {
    const Op& op = *find_op(name);
    const Judged judged(op, Pass::forward, DType::bf16, std::move(dims), {}, false);
    const std::vector<std::uint64_t> offsets(op.info().tensors.size());
    const auto plan = case_plan(op.info(), judged.run_plan(), {}, offsets, PtxSource{});
    EXPECT_TRUE(plan.has_value());
    return plan ? plan->inner_dims : 0;
  };
  EXPECT_EQ(inner("offset_rmsnorm", {256, 320}), 0b10U); // cols; rstd has the rows alone
  EXPECT_EQ(inner("softmax", {256, 320}), 0b10U);
  EXPECT_EQ(inner("transpose", {256, 320}), 0b11U);
}

TEST(JudgingSource, TakesAUsersOwnHeaderFromItsFolder) {
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const auto program = judging_source({"kernels/bias_gelu_residual/bias_gelu_residual.h", pass, DType::f32},
                                        default_cache_dir());
    ASSERT_TRUE(program.has_value()) << to_string(program.error());
    EXPECT_TRUE(program->entries.contains(screen::judge_entry));
    EXPECT_TRUE(has_functions(*program));
  }
  const auto missing = judging_source({"no/such/header.h", Pass::forward, DType::f32}, {});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, ErrorKind::user);
}

TEST(JudgingSource, ErfOfF64IsRefused) {
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const auto program = judging_source({"gelu_erf", pass, DType::f64}, default_cache_dir());
    ASSERT_FALSE(program.has_value());
    EXPECT_NE(program.error().message.find("long double"), std::string::npos) << program.error().message;
  }
}

} // namespace
} // namespace assay::testing
