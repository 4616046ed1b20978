#include "harness/device/cuda/cuda_device.h"

#include "harness/base/check.h"
#include "harness/compile/compile.h"
#include "harness/device/cuda/arena.h"
#include "harness/device/cuda/fault.h"
#include "harness/device/cuda/gpu.h"
#include "harness/device/whole_case.h"

#include <algorithm>
#include <set>

namespace assay {

namespace cuda {
namespace {

// A difference between the worlds is blamed on their memory only where it comes back with each of them this
// often: with a kernel that gives one of two results at random, once in 2^24 differences.
constexpr int alternations = 12;

class CudaDevice final : public Device, public WholeCase {
 public:
  CudaDevice(const Driver& driver, const CudaOptions& options) : gpu_(driver, options) {}

  Result<void> open() { return gpu_.open(); }

  std::string name() const override { return gpu_.name(); }

  Result<std::shared_ptr<Program>> load(const PtxSource& source) override { return gpu_.load(source); }
  Result<BufferId> allocate(const BufferSpec& spec, std::span<const std::byte> dense) override {
    ASSAY_CHECK(launches_.empty(), "a buffer was made after a launch");
    composed_ = false;
    return arena_.add(spec, dense);
  }
  void fill_zero(BufferId buffer) override {
    ASSAY_CHECK(launches_.empty(), "a buffer was cleared after a launch");
    composed_ = false;
    arena_.fill_zero(buffer);
  }
  void release_all() override {
    arena_.clear();
    const bool heap =
        std::ranges::any_of(launches_, [](const Launched& l) { return l.program->traits.heap; });
    if (heap) gpu_.stop(); // what a kernel has not freed would be missing in the next case
    launches_.clear();
    composed_ = uploaded_ = explained_ = lost_ = false;
  }
  Result<LaunchReport> launch(Program& program, const LaunchSpec& spec) override;
  Result<bool> launch_whole(Program& program, std::span<const LaunchSpec> launches) override;
  Result<void> read(BufferId buffer, std::span<std::byte> dense) override {
    compose();
    arena_.read(buffer, bytes_of(0), dense);
    return {};
  }
  std::vector<std::int64_t> unwritten(BufferId buffer, std::size_t limit) const override {
    if (!composed_) return {};
    return arena_.unwritten(buffer, bytes_of(0), first_world, bytes_of(1), second_world, limit);
  }
  // Of the program launched last. Blocks are counted from the first time that someone asks.
  Coverage coverage() override {
    counting_ = true;
    return last_ == nullptr ? Coverage{} : Coverage{last_->counters};
  }
  void set_compare_hook(CompareHook) override {}

 private:
  struct Launched {
    CudaProgram* program;
    GpuLaunch launch;
  };

  static CudaProgram& own(Program& any);
  Result<std::variant<GpuLaunch, std::string>> translate(const CudaProgram& program,
                                                         const LaunchSpec& spec) const;
  // Nothing: the time is up.
  Result<std::optional<Reply>> advance(CudaProgram& program, const std::vector<GpuLaunch>& launches);
  std::vector<Fault> faults_in_memory() const;
  void compose();
  Result<LaunchReport> fault_of(const std::optional<Reply>& reply, const CudaProgram& program);
  Result<void> explain(const Arena::Element& element, std::vector<Fault>& faults);
  Result<bool> replay(const World& world);
  WorldRun whole_run(std::uint32_t index, const World& world) const;

  std::byte* bytes_of(std::size_t world) const { return gpu_.memory().world(world); }

  Gpu gpu_;
  Arena arena_{world_capacity};
  std::vector<Launched> launches_; // since the last release_all
  bool composed_ = false;          // the shared memory holds both worlds
  bool uploaded_ = false;          // the GPU holds them, as the last launch left them
  bool explained_ = false;         // why the worlds differ has been asked already
  bool counting_ = false;          // of blocks
  CudaProgram* last_ = nullptr;    // launched
  bool lost_ = false;              // a fault ended the context and the buffers with it
};

void CudaDevice::compose() {
  if (composed_) return;
  arena_.compose(first_world, bytes_of(0));
  arena_.compose(second_world, bytes_of(1));
  composed_ = true;
}

std::array<std::uint32_t, 3> narrow(const Dim3& dims) {
  return {static_cast<std::uint32_t>(dims.x), static_cast<std::uint32_t>(dims.y),
          static_cast<std::uint32_t>(dims.z)};
}

std::uint32_t dirt_of(const World& world) {
  const std::uint32_t pattern = shared_pattern.of(world.second_shared);
  return pattern << 16 | pattern;
}

CudaProgram& CudaDevice::own(Program& any) {
  auto* program = dynamic_cast<CudaProgram*>(&any);
  ASSAY_CHECK(program != nullptr, "a program of another device was launched on a GPU");
  return *program;
}

// What the GPU is asked for, or the limit that the launch breaks.
Result<std::variant<GpuLaunch, std::string>> CudaDevice::translate(const CudaProgram& program,
                                                                   const LaunchSpec& spec) const {
  const auto entry = std::ranges::find(program.infos, spec.entry, &EntryInfo::name);
  if (entry == program.infos.end())
    return user_error({program.origin, 0, 0}, "the PTX has no entry '{}'", spec.entry);
  if (auto broken = broken_limit(*entry, spec, gpu_.limits())) return *std::move(broken);
  GpuLaunch launch;
  launch.module = program.id;
  launch.function = static_cast<std::uint32_t>(entry - program.infos.begin());
  launch.grid = narrow(spec.grid);
  launch.block = narrow(spec.block);
  launch.shared_bytes = static_cast<std::uint32_t>(spec.shared_bytes);
  for (const Argument& argument : spec.args) {
    if (const auto* scalar = std::get_if<Scalar>(&argument))
      launch.parameters.push_back({scalar->bits, 0});
    else
      launch.parameters.push_back({arena_.address(std::get<BufferId>(argument)), 1});
  }
  return launch;
}

// The launches that follow those made so far, in every world.
Result<std::optional<Reply>> CudaDevice::advance(CudaProgram& program,
                                                 const std::vector<GpuLaunch>& launches) {
  if (counting_) ASSAY_TRY_VOID(gpu_.count_blocks(program));
  const bool fresh = std::ranges::find(launches_, &program, &Launched::program) == launches_.end();
  for (const GpuLaunch& launch : launches) launches_.push_back({&program, launch});
  std::vector<std::uint32_t> worlds = {0, 1};
  const bool counts = counting_ && !program.counting_cubin.empty();
  if (counts) worlds.insert(worlds.begin(), counting_world);
  ASSAY_TRY_VOID(gpu_.ensure_module(program, fresh, worlds));
  compose();
  std::vector<WorldRun> runs;
  for (const std::uint32_t world : worlds)
    runs.push_back({world, dirt_of(world == 1 ? second_world : first_world), !uploaded_, launches});
  ASSAY_TRY(std::optional<Reply> reply, gpu_.run(runs, arena_.bytes()));
  uploaded_ = true;
  if (!reply || reply->stage != Stage::done) return reply;
  last_ = &program;
  for (std::size_t i = 0; counts && i < program.counters.size(); ++i)
    program.counters[i] = std::max(program.counters[i], static_cast<std::uint8_t>(gpu_.memory().blob()[i]));
  return reply;
}

std::vector<Fault> CudaDevice::faults_in_memory() const {
  std::vector<Fault> faults = arena_.faults(bytes_of(0), first_world);
  for (Fault& fault : arena_.faults(bytes_of(1), second_world))
    if (std::ranges::none_of(faults, [&](const Fault& known) {
          return known.kind == fault.kind && known.buffer == fault.buffer;
        }))
      faults.push_back(std::move(fault));
  return faults;
}

Result<LaunchReport> CudaDevice::launch(Program& any, const LaunchSpec& spec) {
  CudaProgram& program = own(any);
  ASSAY_CHECK(!lost_, "a launch after one that ended the context");
  ASSAY_TRY(const auto translated, translate(program, spec));
  LaunchReport report;
  if (const auto* broken = std::get_if<std::string>(&translated)) {
    report.faults.push_back({Kind::launch, "", {}, "launch: " + *broken, false});
    return report;
  }
  ASSAY_TRY(const std::optional<Reply> reply, advance(program, {std::get<GpuLaunch>(translated)}));
  if (!reply || reply->stage != Stage::done) return fault_of(reply, program);
  report.faults = faults_in_memory();
  const bool overwritten = std::ranges::any_of(
      report.faults, [](const Fault& fault) { return fault.kind == Kind::out_of_bounds; });
  if (overwritten || explained_) return report;
  if (const auto element = arena_.difference(bytes_of(0), first_world, bytes_of(1), second_world)) {
    explained_ = true;
    ASSAY_TRY_VOID(explain(*element, report.faults));
  }
  return report;
}

Result<bool> CudaDevice::launch_whole(Program& any, std::span<const LaunchSpec> specs) {
  CudaProgram& program = own(any);
  ASSAY_CHECK(launches_.empty(), "a whole case after a launch");
  std::vector<GpuLaunch> launches;
  for (const LaunchSpec& spec : specs) {
    ASSAY_TRY(const auto translated, translate(program, spec));
    if (!std::holds_alternative<GpuLaunch>(translated)) return false;
    launches.push_back(std::get<GpuLaunch>(translated));
  }
  ASSAY_TRY(const std::optional<Reply> reply, advance(program, launches));
  if (reply && reply->stage == Stage::done && faults_in_memory().empty() &&
      !arena_.difference(bytes_of(0), first_world, bytes_of(1), second_world))
    return true;
  if (program.traits.heap) gpu_.stop();
  launches_.clear();
  composed_ = uploaded_ = false;
  return false;
}

Result<LaunchReport> CudaDevice::fault_of(const std::optional<Reply>& reply, const CudaProgram& program) {
  LaunchReport report;
  lost_ = true;
  if (!reply) {
    report.faults.push_back({Kind::timeout,
                             "",
                             {},
                             fmt::format("the launch did not end within {:g} s",
                                         static_cast<double>(gpu_.watchdog().count()) / 1000),
                             false});
    gpu_.be_impatient();
    return report;
  }
  if (reply->stage == Stage::memory)
    return user_error({}, "the GPU has no room for two times {} MiB of buffers", arena_.bytes() >> 20);
  std::optional<Kind> kind;
  if (reply->stage == Stage::launch && is_refused_launch(reply->status)) kind = Kind::launch;
  if (reply->stage == Stage::run) kind = kind_of(reply->status, program.traits.traps);
  if (!kind) return environment_error({}, "{}: {}", name(), reply->text);
  report.faults.push_back({*kind, "", {}, reply->text, false});
  return report;
}

WorldRun CudaDevice::whole_run(std::uint32_t index, const World& world) const {
  WorldRun whole{index, dirt_of(world), true, {}};
  for (const Launched& launched : launches_) whole.launches.push_back(launched.launch);
  return whole;
}

// Runs the case's launches from the start in the first world's arena, with this world's memory. False: it did
// not get to its end.
Result<bool> CudaDevice::replay(const World& world) {
  constexpr std::array<std::uint32_t, 1> first = {0};
  std::set<std::uint32_t> seen;
  for (const Launched& launched : launches_)
    if (seen.insert(launched.program->id).second)
      ASSAY_TRY_VOID(gpu_.ensure_module(*launched.program, true, first));
  arena_.compose(world, bytes_of(0));
  const WorldRun whole = whole_run(0, world);
  ASSAY_TRY(const std::optional<Reply> reply, gpu_.run({&whole, 1}, arena_.bytes()));
  return reply && reply->stage == Stage::done;
}

// Why `element` differs between the worlds: memory that nobody wrote, the guard bands, or the kernel itself,
// whose results differ from run to run, which is not for the device to judge.
Result<void> CudaDevice::explain(const Arena::Element& element, std::vector<Fault>& faults) {
  const std::size_t bytes = arena_.bytes();
  const unsigned starts = gpu_.starts();
  const std::vector<std::byte> first(bytes_of(0), bytes_of(0) + bytes);
  const std::vector<std::byte> second(bytes_of(1), bytes_of(1) + bytes);
  const auto gives = [&](const World& world, const std::vector<std::byte>& wanted,
                         const World& wanted_world) -> Result<bool> {
    ASSAY_TRY(const bool ended, replay(world));
    return ended && !arena_.difference(bytes_of(0), world, wanted.data(), wanted_world);
  };
  bool steady = true;
  for (int turn = 0; turn < alternations && steady; ++turn) {
    ASSAY_TRY(steady, gives(first_world, first, first_world));
    if (steady) {
      ASSAY_TRY(steady, gives(second_world, second, second_world));
    }
  }
  if (steady) {
    const std::string where = arena_.element_text(element);
    Fault fault{Kind::uninitialized, "", {}, {}, false};
    const auto differs = [&](const World& world) -> Result<bool> {
      ASSAY_TRY(const bool same, gives(world, first, first_world));
      return !same;
    };
    ASSAY_TRY(const bool shared, differs(World{false, false, true}));
    if (shared) {
      fault.buffer = "shared";
      fault.message = where + " depends on what shared memory held before the launch";
    }
    for (int buffer = 0; std::cmp_less(buffer, arena_.buffers()) && fault.message.empty(); ++buffer) {
      const std::string& its_name = arena_.name(static_cast<std::size_t>(buffer));
      ASSAY_TRY(const bool outside, differs(World{false, true, false, buffer}));
      if (outside) {
        fault = {Kind::out_of_bounds,
                 its_name,
                 {},
                 fmt::format("{} depends on what lies outside {}", where, its_name),
                 false};
        break;
      }
      ASSAY_TRY(const bool inside, differs(World{true, false, false, buffer}));
      if (inside) {
        fault.buffer = its_name;
        fault.message = fmt::format("{} depends on elements of {} that nobody wrote", where, its_name);
      }
    }
    if (fault.message.empty()) fault.message = where + " depends on memory that nobody wrote";
    faults.push_back(std::move(fault));
  }
  // The GPU and this side as if nothing had been asked.
  ASSAY_TRY(const bool ended, replay(first_world));
  if (ended && gpu_.starts() == starts) return {};
  std::ranges::copy(first, bytes_of(0));
  std::ranges::copy(second, bytes_of(1));
  uploaded_ = false;
  return {};
}

} // namespace
} // namespace cuda

Result<std::unique_ptr<Device>> make_cuda_device(const cuda::Driver& driver, const CudaOptions& options) {
  auto device = std::make_unique<cuda::CudaDevice>(driver, options);
  ASSAY_TRY_VOID(device->open());
  return device;
}

Result<std::unique_ptr<Device>> make_cuda_device(int ordinal) {
  ASSAY_TRY(const cuda::Driver* driver, cuda::load_driver());
  CudaOptions options;
  options.ordinal = ordinal;
  options.cache_dir = default_cache_dir();
  return make_cuda_device(*driver, options);
}

int cuda_device_count() { return cuda::visible_gpus(); }

} // namespace assay
