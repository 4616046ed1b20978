#include "harness/screen/screen.h"

#include "harness/base/check.h"
#include "harness/base/since.h"
#include "harness/run/user_operator.h"
#include "harness/screen/fill_source.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

namespace assay {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t most_submitted = 16384; // cases: a few MiB of what fills them
constexpr double submit_seconds = 0.025; // of a burst's parts, so that the host draws while the device runs
constexpr std::uint64_t first_parts = 2; // of a burst, one wave each: what wastes neighbours is soon known
constexpr std::uint32_t least_waves = 3; // of a later part where they fit into the time: one fills inputs
                                         // while another is judged
constexpr int most_halvings = 6;         // of the memory, where the device has less
constexpr std::chrono::seconds compile_limit = std::chrono::minutes(5);

// The GPU for which there is machine code beside PTX.
constexpr const char *machine = "sm_90", *virtual_machine = "compute_90";

std::string op_of(const Manifest& manifest) {
  if (!is_user_operator(manifest.op)) return manifest.op;
  return (manifest.path.parent_path() / manifest.op).lexically_normal().string();
}

// What fills cases, one after another, as the device is given it.
class Given {
 public:
  Given(const Neighbours* neighbours, std::span<const std::size_t> inputs)
      : neighbours_(neighbours), inputs_(inputs), drawn_(neighbours != nullptr ? neighbours->inputs() : 0) {}

  void clear() { fills_.clear(); }
  void add(std::span<const FillInput> of_case) { // in the case's order
    for (const std::size_t input : inputs_) fills_.push_back(of_case[input]);
  }
  void draw(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t k = first; k < first + count; ++k) {
      neighbours_->draw(k, drawn_);
      add(drawn_);
    }
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(fills_)); }

 private:
  const Neighbours* neighbours_;
  std::span<const std::size_t> inputs_;
  std::vector<FillInput> fills_, drawn_;
};

// The parts of a burst, one submitted after the other.
struct Part {
  std::uint64_t number = 0;
  std::uint64_t first = 0, count = 0; // neighbours
  bool parent = false;                // stands before them
  std::uint64_t cases() const { return count + (parent ? 1 : 0); }
};

} // namespace

std::unique_ptr<Screen> Screen::create(Kernel& kernel, const ScreenOptions& options) {
  auto* device = dynamic_cast<BatchDevice*>(&kernel.device());
  if (device == nullptr) return nullptr;
  std::unique_ptr<Screen> screen(new Screen(kernel));
  screen->device_ = device;
  screen->options_ = options;
  screen->arch_ = device->machine() == machine ? machine : virtual_machine;
  return screen;
}

Judging Screen::judging(const Kind& kind) const {
  return {.op = op_of(kernel_.manifest()), .pass = kind.first, .dtype = kind.second, .arch = arch_};
}

// The child leaves programs in the cache, where they are found when they are asked for.
bool Screen::ready(Pass pass, DType dtype) {
  const Kind kind(pass, dtype);
  if (compiling_) {
    const auto ended = ahead_.ended(compile_limit);
    if (!ended) return judges_.contains(kind) || compiled_.contains(kind);
    if (*ended)
      compiled_.insert(*compiling_);
    else
      judges_.emplace(*compiling_, std::unexpected(ended->error()));
    compiling_.reset();
  }
  if (!options_.ahead || judges_.contains(kind) || compiled_.contains(kind)) return true;
  compiling_ = kind;
  ahead_.start([&]() -> Result<void> {
    ASSAY_TRY_VOID(fill_source(options_.cache_dir, arch_));
    ASSAY_TRY_VOID(judging_source(judging(kind), options_.cache_dir));
    return {};
  });
  return false;
}

Result<Screen::Judge> Screen::make_judge(const Kind& kind) {
  if (fill_ == nullptr) {
    ASSAY_TRY(const PtxSource source, fill_source(options_.cache_dir, arch_));
    ASSAY_TRY(fill_, kernel_.device().load(source));
  }
  Judge made;
  ASSAY_TRY(made.source, judging_source(judging(kind), options_.cache_dir));
  ASSAY_TRY(made.program, kernel_.device().load(made.source));
  return made;
}

// Without its program the cases are for the host alone, whatever stands in the way.
Result<const Screen::Judge*> Screen::judge(const Kind& kind) {
  auto found = judges_.find(kind);
  if (found == judges_.end()) found = judges_.emplace(kind, make_judge(kind)).first;
  if (found->second) return &*found->second;
  return user_error({}, "{}", to_string(found->second.error()));
}

Result<Screen::Opened> Screen::open(const Case& test_case) {
  ASSAY_TRY(const Plan plan, kernel_.plan(test_case));
  ASSAY_TRY(const Judge* judge_program, judge({plan.pass, plan.dtype}));
  auto layout = slot_layout(plan, test_case);
  if (!layout) return user_error({}, "more tensors, dims or elements than the screen is told of");
  Opened opened;
  opened.layout = *std::move(layout);
  for (const std::size_t tensor : opened.layout.inputs) {
    const auto input =
        std::ranges::find(test_case.inputs, plan.tensors[tensor].info->name, &TensorInput::tensor);
    ASSAY_CHECK(input != test_case.inputs.end(), "check_case() let a case without '{}' through",
                plan.tensors[tensor].info->name);
    opened.inputs.push_back(static_cast<std::size_t>(input - test_case.inputs.begin()));
  }
  if (opened.inputs.size() != test_case.inputs.size())
    return user_error({}, "an input that the kernel does not take is not on the device");
  ASSAY_TRY(const screen::CasePlan case_plan_of, case_plan(kernel_.op().info(), plan, test_case.tolerance,
                                                           opened.layout.tensors, judge_program->source));
  opened.facts = {case_plan_of.golden_unit, !has_functions(judge_program->source)};
  std::uint64_t bytes = options_.wave_bytes;
  for (int halvings = 0;; ++halvings, bytes /= 2) {
    opened.batch = burst_batch(plan, opened.layout, case_plan_of, {fill_, judge_program->program}, bytes,
                               {options_.wave_cases, options_.large_wave_cases});
    const auto accepted = device_->open_batch(opened.batch.batch);
    if (accepted) return opened;
    if (accepted.error().kind != ErrorKind::user || halvings == most_halvings ||
        opened.batch.batch.wave_cases == 1)
      return std::unexpected(accepted.error());
  }
}

std::vector<ScreenedCase> Screen::screened(const Opened& opened, const BatchOutcome& outcome) const {
  const std::vector<std::byte>& memory = outcome.results[memory_results];
  const std::vector<std::byte>& records = outcome.results[judge_results];
  std::vector<ScreenedCase> cases(memory.size() / opened.batch.batch.result_bytes[memory_results]);
  ASSAY_CHECK(records.size() == cases.size() * sizeof(screen::Record), "{} records of {} cases",
              records.size() / sizeof(screen::Record), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::memcpy(&cases[i].memory, &memory[i * sizeof(MemoryRecord)], sizeof(MemoryRecord));
    std::memcpy(&cases[i].record, &records[i * sizeof(screen::Record)], sizeof(screen::Record));
    if (!kernel_.manifest().deterministic) cases[i].memory.flags &= ~memory_flag::world; // as is declared
  }
  return cases;
}

Result<Burst> Screen::burst(const Case& parent, const CaseSpace& space, const BurstRequest& request) {
  ASSAY_TRY(const Opened opened, open(parent));
  const FillPlan& plan = opened.layout.fill;
  std::vector<const FillTensor*> tensors(parent.inputs.size());
  for (std::size_t t = 0; t < opened.inputs.size(); ++t) tensors[opened.inputs[t]] = &plan.tensor[t];
  Burst burst(Neighbours(parent, space, request.seed,
                         [&](std::size_t input, const FillDistribution& distribution) {
                           return can_fill(distribution, *tensors[input]);
                         }),
              request.seed);
  burst.facts = opened.facts;
  burst.step_names = opened.batch.step_names;
  std::vector<FillInput> of_parent;
  for (std::size_t i = 0; i < parent.inputs.size(); ++i)
    if (const auto fill = fill_input(parent.inputs[i], *tensors[i])) of_parent.push_back(*fill);
  const Batch& batch = opened.batch.batch;
  const auto begin = Clock::now();
  double& seconds_a_case = seconds_a_case_[static_cast<std::size_t>(std::bit_width(batch.slot_bytes))];
  Given given[2] = {{&burst.neighbours(), opened.inputs}, {&burst.neighbours(), opened.inputs}};

  // The next part; empty where the time is up.
  const auto next_part = [&](const Part& before, double running) {
    Part part;
    part.first = before.first + before.count;
    part.parent = before.cases() == 0 && of_parent.size() == parent.inputs.size();
    const double left = request.seconds - since(begin) - running;
    part.number = before.cases() == 0 ? 0 : before.number + 1;
    std::uint64_t count = batch.wave_cases;
    if (part.number >= first_parts && seconds_a_case > 0) { // whole waves, at least one while there is time
      const double fit = left / seconds_a_case, least = least_waves * batch.wave_cases,
                   all_before = static_cast<double>(part.first);
      const double wanted = std::max(std::min(submit_seconds / seconds_a_case, all_before), least);
      count = static_cast<std::uint64_t>(std::clamp(std::min(wanted, fit), 0.0, 1e9));
      count = std::max<std::uint64_t>(count - count % batch.wave_cases, batch.wave_cases);
    }
    if (left <= 0 && part.number > 0) count = 0;
    count = std::min(count, std::max<std::uint64_t>(most_submitted, batch.wave_cases));
    part.count = std::min(count - (part.parent && count > 0 ? 1 : 0), request.most - part.first);
    return part;
  };
  const auto draw = [&](Given& into, const Part& part) {
    into.clear();
    if (part.parent) into.add(of_parent);
    into.draw(part.first, part.count);
  };

  const auto take = [&](const Part& part, const BatchOutcome& outcome) {
    std::vector<ScreenedCase> cases = screened(opened, outcome);
    ASSAY_CHECK(cases.size() == part.cases(), "{} records of {} cases", cases.size(), part.cases());
    std::size_t i = 0;
    if (part.parent) burst.add_parent(cases[i++]);
    for (std::uint64_t number = part.first; i < cases.size(); ++i) {
      cases[i].number = number++;
      burst.add(cases[i]);
    }
    burst.twins += part.cases() / batch.wave_cases * batch.wave_twins +
                   std::min<std::uint64_t>(part.cases() % batch.wave_cases, batch.wave_twins);
    burst.step_seconds.resize(std::max(burst.step_seconds.size(), outcome.step_seconds.size()));
    for (std::size_t s = 0; s < outcome.step_seconds.size(); ++s)
      burst.step_seconds[s] += outcome.step_seconds[s];
  };

  // While the device runs a part, the host reads the records of the last one, learns, and draws the next.
  Part part = next_part({}, 0), last;
  std::optional<BatchOutcome> of_last;
  draw(given[0], part);
  for (int turn = 0; part.cases() > 0; turn ^= 1) {
    const auto submitted = Clock::now();
    ASSAY_TRY_VOID(device_->submit(given[turn].bytes(), part.cases(), request.timed));
    bool is_of_use = true;
    if (of_last) {
      take(last, *of_last);
      is_of_use = burst.learn(part.first + part.count);
    }
    of_last.reset();
    const double running = seconds_a_case * static_cast<double>(part.cases());
    const Part next = is_of_use ? next_part(part, running) : Part{};
    draw(given[turn ^ 1], next);
    ASSAY_TRY(BatchOutcome outcome, device_->collect());
    if (!outcome.done) {
      burst.add_lost(part.first, part.count, outcome.why);
      break;
    }
    seconds_a_case = since(submitted) / static_cast<double>(part.cases());
    of_last = std::move(outcome);
    last = std::exchange(part, next);
  }
  if (of_last) take(last, *of_last);
  burst.seconds = since(begin);
  return burst;
}

Result<bool> Screen::survives(const Burst& burst, std::uint64_t first, std::uint64_t count) {
  ASSAY_TRY(const Opened opened, open(burst.neighbours().parent()));
  Given given(&burst.neighbours(), opened.inputs);
  given.draw(first, count);
  ASSAY_TRY_VOID(device_->submit(given.bytes(), count));
  ASSAY_TRY(const BatchOutcome outcome, device_->collect());
  return outcome.done;
}

Result<std::vector<ScreenedCase>> Screen::repeat(const Case& test_case, std::uint32_t count) {
  ASSAY_TRY(const Opened opened, open(test_case));
  std::vector<FillInput> fills;
  for (std::size_t t = 0; t < opened.inputs.size(); ++t) {
    const auto fill = fill_input(test_case.inputs[opened.inputs[t]], opened.layout.fill.tensor[t]);
    if (!fill) return user_error({}, "the device cannot fill this case");
    fills.push_back(*fill);
  }
  std::vector<FillInput> all;
  for (std::uint32_t i = 0; i < count; ++i) all.insert(all.end(), fills.begin(), fills.end());
  ASSAY_TRY_VOID(device_->submit(std::as_bytes(std::span(all)), count));
  ASSAY_TRY(const BatchOutcome outcome, device_->collect());
  if (!outcome.done) return user_error({}, "{}", outcome.why);
  return screened(opened, outcome);
}

} // namespace assay
