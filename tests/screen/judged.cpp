#include "tests/screen/judged.h"

#include "harness/device/cpu/cpu_device.h"
#include "harness/inputs/draw.h"
#include "harness/inputs/fill.h"
#include "harness/numerics/bias.h"
#include "harness/numerics/bulk.h"
#include "harness/numerics/formats.h"
#include "harness/numerics/ulp.h"
#include "harness/ops/evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace assay::testing {

namespace {

template <class T> T value(Result<T> result) {
  EXPECT_TRUE(result.has_value()) << (result ? "" : to_string(result.error()));
  return *std::move(result);
}

Device& cpu() { // with every check on
  static const std::unique_ptr<Device> device = value(make_cpu_device());
  return *device;
}

bool reads(Role role, Pass pass) {
  return role == Role::input || (role == Role::upstream && pass == Pass::backward);
}

// The tensor's elements to where the plan has them, from `place` on.
void spread(const Tensor& tensor, const PlannedTensor& planned, std::byte* place) {
  const std::size_t size = size_of(tensor.dtype);
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    std::int64_t at = planned.strides.empty() ? i : 0, rest = i;
    for (std::size_t d = planned.strides.size(); d-- > 0; rest /= tensor.shape[d])
      at += rest % tensor.shape[d] * planned.strides[d];
    std::memcpy(place + static_cast<std::size_t>(at) * size,
                tensor.bytes.data() + static_cast<std::size_t>(i) * size, size);
  }
}

} // namespace

Judged::Judged(const Op& op, Pass pass, DType dtype, std::vector<std::int64_t> dims,
               const Tolerance& tolerance, bool strided)
    : op_(op), tolerance_(tolerance) {
  const OpInfo& info = op.info();
  run_plan_.pass = pass;
  run_plan_.dtype = dtype;
  run_plan_.dims = dims;
  for (const ParamInfo& param : info.params) run_plan_.params.push_back(static_cast<float>(param.initial));
  std::vector<Dim> axes;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    axes.push_back({static_cast<int>(d), info.dims[d].name.c_str()});
    case_.dims.emplace_back(info.dims[d].name, dims[d]);
  }
  const Role written = pass == Pass::backward ? Role::gradient : Role::output;
  for (std::size_t i = 0; i < info.tensors.size(); ++i) {
    PlannedTensor tensor;
    tensor.info = &info.tensors[i];
    tensor.dtype = tensor.info->dtype.value_or(dtype);
    for (const std::string& axis : tensor.info->shape)
      tensor.shape.push_back(axes_of(axis.c_str(), axes, dims).front());
    tensor.tested = tensor.info->role == written;
    tensor.present = tensor.tested || reads(tensor.info->role, pass);
    if (tensor.tested) tested_.push_back(i);
    if (strided && reads(tensor.info->role, pass)) {
      tensor.offset = 1;
      tensor.strides.resize(tensor.shape.size());
      std::int64_t stride = 3;
      for (std::size_t d = tensor.shape.size(); d-- > 0; stride *= std::max<std::int64_t>(tensor.shape[d], 1))
        tensor.strides[d] = stride++;
    }
    run_plan_.tensors.push_back(std::move(tensor));
  }
}

void Judged::draw(Rng& rng, bool plain) {
  Trial trial;
  trial.plan = run_plan_;
  trial.inputs.resize(run_plan_.tensors.size());
  std::string description;
  for (std::size_t i = 0; i < run_plan_.tensors.size(); ++i) {
    const PlannedTensor& tensor = run_plan_.tensors[i];
    if (!reads(tensor.info->role, run_plan_.pass)) continue;
    TensorInput input;
    const Domain& domain = tensor.info->domain;
    const bool real = domain.kind == Domain::Kind::real || domain.kind == Domain::Kind::quantizable;
    input.distribution = plain && real ? make_distribution(DistributionKind::normal)
                                       : draw_distribution(domain, domain.specials, rng);
    input.seed = rng.next();
    description += tensor.info->name + " = " + to_text(input.distribution) + "; ";
    fill_into(trial.inputs[i], input, tensor.dtype, tensor.shape, domain, case_.dims);
  }
  for (const std::size_t i : tested_) {
    TensorReport report;
    report.tensor = i;
    report.pass = run_plan_.pass;
    report.name = run_plan_.tensors[i].info->name;
    report.dtype = run_plan_.tensors[i].dtype;
    report.shape = run_plan_.tensors[i].shape;
    report.exact = op_.info().exact || !is_float(report.dtype);
    trial.tensors.push_back(std::move(report));
  }
  Instrument golden;
  golden.number = Instrument::Number::golden;
  trial.golden = evaluate_tested(op_, trial, golden);
  trial.reference = evaluate_tested(op_, trial, {});
  for (const Evaluated& output : trial.reference) trial.target.push_back(output.value);
  trials_.push_back(std::move(trial));
  descriptions_.push_back(std::move(description));
}

void Judged::add(std::string name, bool right, std::vector<std::vector<double>> values) {
  targets_.push_back({trials_.size() - 1, std::move(name), right, std::move(values)});
}

void Judged::add_targets(Rng& rng) {
  const Trial& trial = trials_.back();
  const auto right = [&](const char* name, const Instrument& instrument) {
    std::vector<std::vector<double>> values;
    for (Evaluated& output : evaluate_tested(op_, trial, instrument))
      values.push_back(std::move(output.value));
    add(name, true, std::move(values));
  };
  add("the reference", true, trial.target);
  Instrument instrument;
  instrument.order = Order::pairwise;
  right("pairwise", instrument);
  instrument.order = Order::strided;
  instrument.width = 32;
  instrument.contract = true;
  right("strided, contracted", instrument);
  instrument.functions = Instrument::Functions::random_signs;
  instrument.seed = rng.next();
  right("functions off", instrument);
  add_wrong(rng);
}

void Judged::add_wrong(Rng& rng) {
  const Trial& trial = trials_.back();
  const std::size_t k = rng.below(trial.tensors.size());
  const TensorReport& report = trial.tensors[k];
  const DType type = report.dtype;
  const std::size_t count = trial.target[k].size();
  if (count == 0) return;
  const std::size_t places[] = {0, count - 1, rng.below(count)};
  const auto with = [&](std::string name, auto&& change) {
    std::vector<std::vector<double>> values = trial.target;
    change(values[k]);
    add(report.name + ": " + std::move(name), false, std::move(values));
  };
  const auto put = [&](std::string name, std::size_t at, double x) {
    with(fmt::format("{} at {}", std::move(name), at),
         [&](std::vector<double>& values) { values[at] = round_value(type, x); });
  };
  with("all zero", [](std::vector<double>& values) { std::ranges::fill(values, 0.0); });
  const std::size_t somewhere = places[rng.below(3)];
  put("sign", somewhere, -trial.target[k][somewhere]);
  if (!is_float(type)) {
    for (const std::size_t at : places) put("one more", at, trial.target[k][at] + 1);
    return;
  }
  const double specials[] = {NAN, INFINITY, -INFINITY, format_of(type).largest};
  put("special", places[rng.below(3)], specials[rng.below(4)]);
  with("scaled", [&](std::vector<double>& values) {
    for (double& v : values) v = round_value(type, v * (1 + std::ldexp(1.0, -format_of(type).precision + 1)));
  });
  const std::vector<double>& golden = trial.golden[k].value;
  with("towards zero", [&](std::vector<double>& values) {
    for (std::size_t i = 0; i < count; ++i) {
      const double rounded = round_value(type, golden[i]);
      values[i] = std::fabs(rounded) > std::fabs(golden[i]) && std::isfinite(rounded)
                      ? from_bits(type, to_bits(type, rounded) - 1)
                      : rounded;
    }
  });
  if (report.exact) return;
  const Gate gate = compare(comparands_of(trial, k), gate_rule(trial, k, tolerance_, op_.info())).gate;
  for (const double share : {0.85, 0.92, 0.99, 1.01, 1.3, 4.0}) {
    const std::size_t at = places[rng.below(3)];
    put(fmt::format("{} thresholds off", share), at,
        golden[at] + (rng.chance(0.5) ? 1 : -1) * share * gate.threshold);
  }
  for (const double share : {0.99, 1.01, 2.0}) { // of a line's
    const std::size_t at = places[rng.below(3)];
    const double threshold = 2 * gate.lines.rho * trial.golden[k].magnitude[at];
    put(fmt::format("{} line thresholds off", share), at, golden[at] + share * threshold);
  }
  if (op_.info().elementwise) {
    const std::size_t at = places[rng.below(3)];
    const double spaced = round_value(type, golden[at]) + 3 * spacing(type, golden[at]);
    put("three values off", at, spaced);
  }
}

HostVerdict Judged::by_host(std::size_t k, const ScreenVerdict* with) const {
  const Target& target = targets_[k];
  Trial trial = trials_[target.draw];
  trial.target = target.values;
  HostVerdict verdict;
  verdict.outputs.resize(trial.tensors.size());
  const auto suspect = [&](const TensorReport& report, std::string_view why) {
    verdict.suspect = verdict.near = true;
    verdict.why += fmt::format("{} {}; ", report.name, why);
  };
  if (run_plan_.pass == Pass::backward)
    for (std::size_t i = 0; i < trial.inputs.size(); ++i)
      if (is_float(trial.inputs[i].dtype) && !trial.inputs[i].bytes.empty())
        for (const double x : widen(trial.inputs[i]))
          if (!std::isfinite(x)) return verdict.judged = false, verdict;
  for (std::size_t i = 0; i < trial.tensors.size(); ++i) {
    const TensorReport& report = trial.tensors[i];
    const Evaluated& golden = trial.golden[i];
    if (with && !with->reference[i].empty()) trial.reference[i].value = with->reference[i];
    std::vector<double> rounded(golden.value.size());
    round_values(report.dtype, golden.value, golden.value_low, rounded);
    if (report.exact) {
      if (compare_exact(rounded, golden.alternative, trial.target[i]).mismatches > 0)
        suspect(report, "exact");
      continue;
    }
    const GateRule rule = gate_rule(trial, i, tolerance_, op_.info());
    const Comparison comparison = compare(comparands_of(trial, i), rule);
    verdict.outputs[i] = comparison;
    const Structure& structure = comparison.structure;
    const Gate& gate = comparison.gate;
    verdict.near |= structure.overflow_edge + structure.formula_overflow > 0 || !gate.valid() ||
                    gate.worst_ratio() > 0.85 || gate.lines.lines_invalid > 0 ||
                    gate.reference_relative_error > 0.85 * rule.reference_limit;
    if (!comparison.structure.passed()) suspect(report, "structure");
    if (comparison.gate.valid() && !comparison.gate.passed())
      suspect(report, fmt::format("gate {}, lines {}", comparison.gate.ratio, comparison.gate.lines.ratio));
    if (!comparison.structure.passed()) continue;
    if (op_.info().elementwise && report.pass == Pass::forward) {
      std::vector<std::uint64_t> legal(rounded.size());
      widen_distances(report.dtype, rounded, trial.reference[i].value, legal);
      const UlpResult result =
          check_ulps(report.dtype, rounded, trial.target[i], legal,
                     ulp_limit(tolerance_, report.dtype, op_.info()), ulp_exclusions(trial, i, tolerance_));
      if (result.violations > 0) suspect(report, fmt::format("{} ULPs", result.worst_distance));
    }
    if (!bias_applies(report.dtype) || comparison.suspect()) continue;
    SignedErrors errors, legal;
    const double least = least_unflushed(rule.flush_terms);
    pool(errors, comparands_of(trial, i), trial.target[i], least);
    pool(legal, comparands_of(trial, i), trial.reference[i].value, least);
    const MeanError mean = mean_error(errors), legal_mean = mean_error(legal);
    if (mean.count >= 256 && std::fabs(mean.mean) > bias_limit &&
        std::fabs(mean.mean) > bias_sigmas * mean.standard_error &&
        std::fabs(legal_mean.mean) < legal_bias_limit)
      suspect(report, fmt::format("bias {}", mean.mean));
  }
  return verdict;
}

std::vector<ScreenVerdict> Judged::by_screen(const PtxSource& program, std::uint32_t threads) {
  const SlotLayout layout = *slot_layout(run_plan_, case_);
  plan_ = value(case_plan(op_.info(), run_plan_, tolerance_, layout.tensors, program));
  JudgeNeeds needs = judge_needs(plan_, threads);
  for (const std::size_t i : tested_) // for the goldens that are kept
    needs.scratch_bytes += (static_cast<std::size_t>(plan_.tensors[i].count) * 24 + 511) / 256 * 256;

  const std::size_t cases = targets_.size();
  std::vector<std::byte> slots(cases * layout.bytes);
  for (std::size_t c = 0; c < cases; ++c) {
    const Trial& trial = trials_[targets_[c].draw];
    std::byte* slot = slots.data() + c * layout.bytes;
    for (std::size_t i = 0; i < trial.inputs.size(); ++i)
      if (!trial.inputs[i].bytes.empty())
        spread(trial.inputs[i], run_plan_.tensors[i], slot + layout.tensors[i]);
    for (std::size_t k = 0; k < tested_.size(); ++k) {
      const DType type = trial.tensors[k].dtype;
      const std::vector<double>& values = targets_[c].values[k];
      narrow(type, values, std::span(slot + layout.tensors[tested_[k]], values.size() * size_of(type)));
    }
  }
  Device& device = cpu();
  device.release_all();
  const std::shared_ptr<Program> loaded = value(device.load(program));
  const auto buffer = [&](const char* name, std::span<const std::byte> contents, BufferRole role) {
    const std::vector<std::int64_t> shape{static_cast<std::int64_t>(contents.size())};
    return value(device.allocate({.name = name, .role = role, .dtype = DType::u8, .shape = shape}, contents));
  };
  std::vector<std::byte> scratch(cases * needs.scratch_bytes);
  std::vector<screen::Record> records(cases);
  const BufferId of_scratch = value(device.allocate({.name = "scratch",
                                                     .role = BufferRole::scratch,
                                                     .dtype = DType::u8,
                                                     .shape = {static_cast<std::int64_t>(scratch.size())},
                                                     .initialized = false},
                                                    {}));
  const BufferId of_records = buffer("records", std::as_bytes(std::span(records)), BufferRole::scratch);
  LaunchSpec spec{.entry = program.entries.at(screen::judge_entry),
                  .grid = {cases, 1, 1},
                  .block = {needs.threads, 1, 1}};
  spec.args = {buffer("plan", std::as_bytes(std::span(&plan_, 1)), BufferRole::input),
               buffer("slots", slots, BufferRole::input),
               Scalar{layout.bytes, 8},
               Scalar{cases, 4},
               of_scratch,
               Scalar{needs.scratch_bytes, 8},
               of_records};
  const LaunchReport report = value(device.launch(*loaded, spec));
  for (const Fault& fault : report.faults)
    if (!fault.note)
      ADD_FAILURE() << op_.info().name << ": " << fault.message << " " << to_string(fault.place);
  EXPECT_TRUE(device.read(of_scratch, scratch).has_value());
  EXPECT_TRUE(device.read(of_records, std::as_writable_bytes(std::span(records))).has_value());

  std::vector<ScreenVerdict> verdicts(cases);
  for (std::size_t c = 0; c < cases; ++c) {
    ScreenVerdict& verdict = verdicts[c];
    verdict.record = records[c];
    const std::byte* at = scratch.data() + c * needs.scratch_bytes;
    const auto take = [&](std::size_t bytes) {
      const std::byte* begin = at;
      at += (bytes + 15) / 16 * 16;
      return begin;
    };
    for (const std::size_t i : tested_) {
      const DType type = run_plan_.tensors[i].dtype;
      const auto count = static_cast<std::size_t>(plan_.tensors[i].count);
      const std::size_t size = std::max<std::size_t>(size_of(type), size_of(type) == 1 ? 4 : 1);
      const std::byte* reference = take(count * size);
      const std::byte* golden = take(count * 24);
      std::vector<double> r(is_float(type) ? count : 0), g(count), low(count), m(count);
      for (std::size_t k = 0; k < count; ++k) {
        double kept[3];
        std::memcpy(kept, golden + k * 24, 24);
        g[k] = kept[0], low[k] = kept[1], m[k] = kept[2];
      }
      if (is_float(type))
        widen(size_of(type) == 1 ? DType::f32 : type, std::span(reference, count * size), r);
      verdict.reference.push_back(std::move(r));
      verdict.golden.push_back(std::move(g));
      verdict.golden_low.push_back(std::move(low));
      verdict.magnitude.push_back(std::move(m));
    }
  }
  return verdicts;
}

} // namespace assay::testing
