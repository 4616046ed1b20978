#include "harness/device/cuda/cuda_device.h"

#include "harness/base/check.h"
#include "harness/base/hash.h"
#include "harness/compile/compile.h"
#include "harness/compile/ptx_entries.h"
#include "harness/device/cuda/arena.h"
#include "harness/device/cuda/coverage.h"
#include "harness/device/cuda/cubin_cache.h"
#include "harness/device/cuda/fault.h"
#include "harness/device/cuda/program.h"
#include "harness/device/cuda/server_process.h"
#include "harness/device/launch_limits.h"
#include "harness/device/whole_case.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace assay {

namespace cuda {
namespace {

constexpr std::chrono::milliseconds compile_limit = std::chrono::minutes(3);
constexpr std::chrono::milliseconds load_limit = std::chrono::minutes(1);
// A difference between the worlds is blamed on their memory only where it comes back with each of them this
// often: with a kernel that gives one of two results at random, once in 2^24 differences.
constexpr int alternations = 12;

class CudaDevice final : public Device, public WholeCase {
 public:
  CudaDevice(const Driver& driver, const CudaOptions& options)
      : options_(options), server_(driver, options.ordinal, memory_), watchdog_(options.watchdog) {}

  Result<void> open() {
    if (!memory_.valid()) return environment_error({}, "no address space for the buffers of a GPU");
    return ensure_server();
  }

  std::string name() const override {
    return fmt::format("cuda:{} ({}, driver CUDA {}.{})", options_.ordinal, facts_.name.data(),
                       facts_.driver / 1000, facts_.driver % 1000 / 10);
  }

  Result<std::shared_ptr<Program>> load(const PtxSource& source) override;
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
    if (heap) server_.stop(); // what a kernel has not freed would be missing in the next case
    launches_.clear();
    composed_ = uploaded_ = explained_ = lost_ = false;
  }
  Result<LaunchReport> launch(Program& program, const LaunchSpec& spec) override;
  Result<bool> launch_whole(Program& program, std::span<const LaunchSpec> launches) override;
  Result<void> read(BufferId buffer, std::span<std::byte> dense) override {
    compose();
    arena_.read(buffer, memory_.world(0), dense);
    return {};
  }
  std::vector<std::int64_t> unwritten(BufferId buffer, std::size_t limit) const override {
    if (!composed_) return {};
    return arena_.unwritten(buffer, memory_.world(0), first_world, memory_.world(1), second_world, limit);
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

  Result<void> ensure_server();
  Result<std::string> ask(const Writer& request, std::chrono::milliseconds limit);
  Result<std::string> compile(const PtxSource& source);
  struct Compiled {
    std::string cubin;
    bool from_cache = false;
  };
  Result<Compiled> compile_cached(const PtxSource& source, bool read_cache);
  Result<void> count_blocks(CudaProgram& program);
  Result<Reply> load_module(CudaProgram& program, std::uint32_t world, std::vector<FunctionFacts>* facts);
  Result<void> ensure_module(CudaProgram& program, bool fresh, std::span<const std::uint32_t> worlds);
  static CudaProgram& own(Program& any);
  Result<std::variant<GpuLaunch, std::string>> translate(const CudaProgram& program,
                                                         const LaunchSpec& spec) const;
  // Nothing: the time is up.
  Result<std::optional<Reply>> advance(CudaProgram& program, std::vector<GpuLaunch> launches);
  std::vector<Fault> faults_in_memory() const;
  void compose();
  // Nothing: the time is up.
  Result<std::optional<Reply>> run(std::span<const WorldRun> runs);
  Result<LaunchReport> fault_of(const std::optional<Reply>& reply, const CudaProgram& program);
  Result<void> explain(const Arena::Element& element, std::vector<Fault>& faults);
  Result<bool> replay(const World& world);
  WorldRun whole_run(std::uint32_t index, const World& world) const;
  LaunchLimits limits() const;

  CudaOptions options_;
  SharedMemory memory_;
  ServerProcess server_;
  unsigned server_starts_ = 0;
  GpuFacts facts_;
  std::chrono::milliseconds watchdog_;
  std::unordered_map<std::string, std::shared_ptr<CudaProgram>> programs_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> loaded_; // (program, world) that the server holds

  Arena arena_{world_capacity};
  std::vector<Launched> launches_; // since the last release_all
  bool composed_ = false;          // memory_ holds both worlds
  bool uploaded_ = false;          // the GPU holds them, as the last launch left them
  bool explained_ = false;         // why the worlds differ has been asked already
  bool counting_ = false;          // of blocks
  CudaProgram* last_ = nullptr;    // launched
  bool lost_ = false;              // a fault ended the context and the buffers with it
};

Result<void> CudaDevice::ensure_server() {
  if (server_.running()) return {};
  loaded_.clear();
  ++server_starts_;
  ASSAY_TRY(facts_, server_.start());
  return {};
}

// For requests that no kernel has a part in: late or no answer is the environment's fault.
Result<std::string> CudaDevice::ask(const Writer& request, std::chrono::milliseconds limit) {
  ASSAY_TRY_VOID(ensure_server());
  std::string answer;
  const Answered answered = server_.ask(request, limit, answer);
  if (answered == Answered::yes) return answer;
  if (answered == Answered::too_late) return environment_error({}, "the CUDA driver does not answer");
  return environment_error({}, "the CUDA driver ended its process ({})", server_.last_words());
}

Result<std::string> CudaDevice::compile(const PtxSource& source) {
  const std::size_t size = source.text.size() + 1; // the driver wants the zero byte too
  if (size > blob_capacity)
    return user_error(Place{source.origin}, "its PTX is larger than {} MiB", blob_capacity >> 20);
  std::memcpy(memory_.blob(), source.text.c_str(), size);
  Writer request;
  request.put(Request::compile);
  request.put(size);
  ASSAY_TRY(const std::string answer, ask(request, compile_limit));
  Reader in(answer);
  const auto stage = in.take<Stage>();
  const auto status = in.take<Status>();
  const std::string text = in.take_text();
  const auto cubin = in.take<std::size_t>();
  if (stage == Stage::done) return std::string(reinterpret_cast<const char*>(memory_.blob()), cubin);
  constexpr Status invalid_ptx = 218;
  if (status == invalid_ptx) return user_error(Place{source.origin, line_of_log(text), 0}, "{}", text);
  return environment_error(Place{source.origin}, "{} does not take this PTX: {}", name(), text);
}

Result<CudaDevice::Compiled> CudaDevice::compile_cached(const PtxSource& source, bool read_cache) {
  const bool cache = !options_.cache_dir.empty();
  const std::string key = cubin_key(source.text, facts_.compute_major, facts_.compute_minor, facts_.driver);
  if (cache && read_cache)
    if (auto cubin = load_cubin(options_.cache_dir, key)) return Compiled{*std::move(cubin), true};
  ASSAY_TRY(std::string cubin, compile(source));
  if (cache) store_cubin(options_.cache_dir, key, cubin);
  return Compiled{std::move(cubin), false};
}

// A program whose counting copy does not compile goes on without counters.
Result<void> CudaDevice::count_blocks(CudaProgram& program) {
  if (program.counting_tried) return {};
  program.counting_tried = true;
  const CountedPtx counted = with_block_counters(program.text);
  if (counted.blocks == 0) return {};
  auto compiled = compile_cached({counted.text, program.origin, {}}, true);
  if (!compiled) return server_.running() ? Result<void>{} : std::unexpected(compiled.error());
  program.counting_cubin = std::move(compiled->cubin);
  program.counters.assign(counted.blocks, 0);
  return {};
}

Result<Reply> CudaDevice::load_module(CudaProgram& program, std::uint32_t world,
                                      std::vector<FunctionFacts>* facts) {
  const std::string& cubin = world == counting_world ? program.counting_cubin : program.cubin;
  std::memcpy(memory_.blob(), cubin.data(), cubin.size());
  Writer request;
  request.put(Request::load);
  request.put(program.id);
  request.put(world);
  request.put(program.infos.size());
  for (const EntryInfo& info : program.infos) request.put_text(info.name);
  ASSAY_TRY(const std::string answer, ask(request, load_limit));
  Reader in(answer);
  Reply reply;
  reply.stage = in.take<Stage>();
  reply.status = in.take<Status>();
  reply.text = in.take_text();
  if (reply.stage != Stage::done) return reply;
  loaded_.emplace(program.id, world);
  for (std::size_t i = 0; facts != nullptr && i < program.infos.size(); ++i) {
    FunctionFacts& of = facts->emplace_back();
    of.max_threads = in.take<int>();
    of.static_shared = in.take<int>();
    of.param_bytes = in.take_all<std::uint32_t>();
  }
  return reply;
}

Result<std::shared_ptr<Program>> CudaDevice::load(const PtxSource& source) {
  const std::string key = content_hash(source.text) + source.origin;
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  ASSAY_TRY_VOID(ensure_server());
  auto program = std::make_shared<CudaProgram>();
  program->id = static_cast<std::uint32_t>(programs_.size());
  program->text = source.text;
  program->origin = source.origin;
  program->traits = traits_of(source.text);
  for (std::string& entry : ptx_entries(source.text)) {
    EntryInfo& info = program->infos.emplace_back();
    info.name = std::move(entry);
  }
  std::vector<FunctionFacts> facts;
  ASSAY_TRY(Compiled compiled, compile_cached(source, true));
  program->cubin = std::move(compiled.cubin);
  ASSAY_TRY(Reply reply, load_module(*program, 0, &facts));
  if (reply.stage != Stage::done && compiled.from_cache) {
    ASSAY_TRY(compiled, compile_cached(source, false));
    program->cubin = std::move(compiled.cubin);
    ASSAY_TRY(reply, load_module(*program, 0, &facts));
  }
  if (reply.stage != Stage::done)
    return environment_error(Place{source.origin}, "{} does not load it: {}", name(), reply.text);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    EntryInfo& info = program->infos[i];
    info.param_bytes = std::move(facts[i].param_bytes);
    info.static_shared_bytes = static_cast<std::uint64_t>(facts[i].static_shared);
    info.max_block_threads = static_cast<std::uint32_t>(facts[i].max_threads);
  }
  programs_.emplace(key, program);
  return program;
}

// The program's module in each of the worlds. Variables keep what launches left in them: `fresh` brings back
// what the program gives them.
Result<void> CudaDevice::ensure_module(CudaProgram& program, bool fresh,
                                       std::span<const std::uint32_t> worlds) {
  ASSAY_TRY_VOID(ensure_server());
  for (const std::uint32_t world : worlds) {
    if (loaded_.contains({program.id, world}) && !(fresh && program.traits.variables)) continue;
    ASSAY_TRY(const Reply reply, load_module(program, world, nullptr));
    if (reply.stage != Stage::done)
      return environment_error(Place{program.origin}, "{} does not load it: {}", name(), reply.text);
  }
  return {};
}

void CudaDevice::compose() {
  if (composed_) return;
  arena_.compose(first_world, memory_.world(0));
  arena_.compose(second_world, memory_.world(1));
  composed_ = true;
}

Result<std::optional<Reply>> CudaDevice::run(std::span<const WorldRun> runs) {
  Writer request;
  request.put(Request::run);
  request.put(arena_.bytes());
  request.put(runs.size());
  for (const WorldRun& world_run : runs) world_run.put(request);
  std::string answer;
  const Answered answered = server_.ask(request, watchdog_, answer);
  if (answered == Answered::yes) {
    Reader in(answer);
    Reply reply;
    reply.stage = in.take<Stage>();
    reply.status = in.take<Status>();
    reply.text = in.take_text();
    if (reply.stage == Stage::run || reply.stage == Stage::transfer) server_.stop(); // its context is gone
    return reply;
  }
  if (answered == Answered::too_late) return std::optional<Reply>();
  return environment_error({}, "the CUDA driver ended its process ({})", server_.last_words());
}

LaunchLimits CudaDevice::limits() const {
  LaunchLimits limits;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    limits.grid[axis] = static_cast<std::uint64_t>(facts_.max_grid[axis]);
    limits.block[axis] = static_cast<std::uint64_t>(facts_.max_block[axis]);
  }
  limits.block_threads = static_cast<std::uint64_t>(facts_.max_block_threads);
  limits.shared = static_cast<std::uint64_t>(facts_.max_shared);
  return limits;
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
  if (auto broken = broken_limit(*entry, spec, limits())) return *std::move(broken);
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
Result<std::optional<Reply>> CudaDevice::advance(CudaProgram& program, std::vector<GpuLaunch> launches) {
  if (counting_) ASSAY_TRY_VOID(count_blocks(program));
  const bool fresh = std::ranges::find(launches_, &program, &Launched::program) == launches_.end();
  for (const GpuLaunch& launch : launches) launches_.push_back({&program, launch});
  std::vector<std::uint32_t> worlds = {0, 1};
  const bool counts = counting_ && !program.counting_cubin.empty();
  if (counts) worlds.insert(worlds.begin(), counting_world);
  ASSAY_TRY_VOID(ensure_module(program, fresh, worlds));
  compose();
  std::vector<WorldRun> runs;
  for (const std::uint32_t world : worlds)
    runs.push_back({world, dirt_of(world == 1 ? second_world : first_world), !uploaded_, launches});
  ASSAY_TRY(std::optional<Reply> reply, run(runs));
  uploaded_ = true;
  if (!reply || reply->stage != Stage::done) return reply;
  last_ = &program;
  for (std::size_t i = 0; counts && i < program.counters.size(); ++i)
    program.counters[i] = std::max(program.counters[i], static_cast<std::uint8_t>(memory_.blob()[i]));
  return reply;
}

std::vector<Fault> CudaDevice::faults_in_memory() const {
  std::vector<Fault> faults = arena_.faults(memory_.world(0), first_world);
  for (Fault& fault : arena_.faults(memory_.world(1), second_world))
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
  if (const auto element = arena_.difference(memory_.world(0), first_world, memory_.world(1), second_world)) {
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
  ASSAY_TRY(const std::optional<Reply> reply, advance(program, std::move(launches)));
  if (reply && reply->stage == Stage::done && faults_in_memory().empty() &&
      !arena_.difference(memory_.world(0), first_world, memory_.world(1), second_world))
    return true;
  if (program.traits.heap) server_.stop();
  launches_.clear();
  composed_ = uploaded_ = false;
  return false;
}

Result<LaunchReport> CudaDevice::fault_of(const std::optional<Reply>& reply, const CudaProgram& program) {
  LaunchReport report;
  lost_ = true;
  if (!reply) {
    report.faults.push_back(
        {Kind::timeout,
         "",
         {},
         fmt::format("the launch did not end within {:g} s", static_cast<double>(watchdog_.count()) / 1000),
         false});
    watchdog_ = options_.watchdog_again;
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
      ASSAY_TRY_VOID(ensure_module(*launched.program, true, first));
  arena_.compose(world, memory_.world(0));
  const WorldRun whole = whole_run(0, world);
  ASSAY_TRY(const std::optional<Reply> reply, run({&whole, 1}));
  return reply && reply->stage == Stage::done;
}

// Why `element` differs between the worlds: memory that nobody wrote, the guard bands, or the kernel itself,
// whose results differ from run to run, which is not for the device to judge.
Result<void> CudaDevice::explain(const Arena::Element& element, std::vector<Fault>& faults) {
  const std::size_t bytes = arena_.bytes();
  const unsigned starts = server_starts_;
  const std::vector<std::byte> first(memory_.world(0), memory_.world(0) + bytes);
  const std::vector<std::byte> second(memory_.world(1), memory_.world(1) + bytes);
  const auto gives = [&](const World& world, const std::vector<std::byte>& wanted,
                         const World& wanted_world) -> Result<bool> {
    ASSAY_TRY(const bool ended, replay(world));
    return ended && !arena_.difference(memory_.world(0), world, wanted.data(), wanted_world);
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
  if (ended && server_starts_ == starts) return {};
  std::ranges::copy(first, memory_.world(0));
  std::ranges::copy(second, memory_.world(1));
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
