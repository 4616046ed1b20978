#include "harness/device/cuda/gpu.h"

#include "harness/base/hash.h"
#include "harness/compile/cubin_cache.h"
#include "harness/compile/ptx_entries.h"
#include "harness/device/cuda/coverage.h"

namespace assay::cuda {

namespace {
constexpr std::chrono::milliseconds compile_limit = std::chrono::minutes(3);
constexpr std::chrono::milliseconds load_limit = std::chrono::minutes(1);
} // namespace

Result<void> Gpu::open() {
  if (!memory_.valid()) return environment_error({}, "no address space for the buffers of a GPU");
  return ensure_server();
}

std::string Gpu::name() const {
  return fmt::format("cuda:{} ({}, driver CUDA {}.{})", options_.ordinal, facts_.name.data(),
                     facts_.driver / 1000, facts_.driver % 1000 / 10);
}

std::string Gpu::machine() const {
  return fmt::format("sm_{}{}", facts_.compute_major, facts_.compute_minor);
}

Result<void> Gpu::ensure_server() {
  if (server_.running()) return {};
  loaded_.clear();
  ++starts_;
  ASSAY_TRY(facts_, server_.start());
  return {};
}

// For requests that no kernel has a part in: late or no answer is the environment's fault.
Result<std::string> Gpu::ask(const Writer& request, std::chrono::milliseconds limit) {
  ASSAY_CHECK(!batch_begun_, "the GPU was asked for something while a batch was under way");
  ASSAY_TRY_VOID(ensure_server());
  std::string answer;
  const Answered answered = server_.ask(request, limit, answer);
  if (answered == Answered::yes) return answer;
  if (answered == Answered::too_late) return environment_error({}, "the CUDA driver does not answer");
  return environment_error({}, "the CUDA driver ended its process ({})", server_.last_words());
}

Result<std::string> Gpu::compile(const PtxSource& source) {
  const std::size_t size = source.text.size() + 1; // the driver wants the zero byte too
  if (size > blob_capacity)
    return user_error(Place{source.origin}, "its PTX is larger than {} MiB", blob_capacity >> 20);
  std::memcpy(memory_.blob(), source.text.c_str(), size);
  Writer request;
  request.put(Request::compile);
  request.put(size);
  ASSAY_TRY(const std::string answer, ask(request, compile_limit));
  Reader in(answer);
  const Reply reply = Reply::take(in);
  const auto cubin = in.take<std::size_t>();
  if (reply.stage == Stage::done) return std::string(reinterpret_cast<const char*>(memory_.blob()), cubin);
  constexpr Status invalid_ptx = 218;
  if (reply.status == invalid_ptx)
    return user_error(Place{source.origin, line_of_log(reply.text), 0}, "{}", reply.text);
  return environment_error(Place{source.origin}, "{} does not take this PTX: {}", name(), reply.text);
}

Result<Gpu::Compiled> Gpu::compile_cached(const PtxSource& source, bool read_cache) {
  const ContentCache cache = cubin_cache(options_.cache_dir);
  const std::string key = cubin_key(source.text, machine(), facts_.driver);
  for (const std::string& made : {key, cubin_key(source.text, machine(), 0)}) {
    if (!read_cache) break;
    if (auto cubin = cache.load(made)) return Compiled{*std::move(cubin), true};
  }
  ASSAY_TRY(std::string cubin, compile(source));
  cache.store(key, cubin);
  return Compiled{std::move(cubin), false};
}

Result<void> Gpu::count_blocks(CudaProgram& program) {
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

Result<Reply> Gpu::load_module(const CudaProgram& program, std::uint32_t world,
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
  Reply reply = Reply::take(in);
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

Result<std::shared_ptr<CudaProgram>> Gpu::load(const PtxSource& source) {
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

Result<void> Gpu::ensure_module(CudaProgram& program, bool fresh, std::span<const std::uint32_t> worlds) {
  ASSAY_TRY_VOID(ensure_server());
  for (const std::uint32_t world : worlds) {
    if (loaded_.contains({program.id, world}) && !(fresh && program.traits.state)) continue;
    ASSAY_TRY(const Reply reply, load_module(program, world, nullptr));
    if (reply.stage != Stage::done)
      return environment_error(Place{program.origin}, "{} does not load it: {}", name(), reply.text);
  }
  return {};
}

// Requests that run kernels. Nothing: the time is up. `answer` keeps what follows the reply.
Result<std::optional<Reply>> Gpu::ask_kernel(const Writer& request, std::string& answer) {
  ASSAY_CHECK(!batch_begun_, "a launch while a batch was under way");
  const Answered answered = server_.ask(request, watchdog_, answer);
  if (answered == Answered::too_late) return std::optional<Reply>();
  if (answered == Answered::died)
    return environment_error({}, "the CUDA driver ended its process ({})", server_.last_words());
  Reader in(answer);
  Reply reply = Reply::take(in);
  answer = in.rest();
  if (reply.stage == Stage::run || reply.stage == Stage::transfer) server_.stop(); // its context is gone
  return reply;
}

Result<std::optional<Reply>> Gpu::run(std::span<const WorldRun> runs, std::size_t arena_bytes) {
  Writer request;
  request.put(Request::run);
  request.put(arena_bytes);
  request.put(runs.size());
  for (const WorldRun& world_run : runs) world_run.put(request);
  std::string answer;
  return ask_kernel(request, answer);
}

Result<std::optional<Reply>> Gpu::time(const WorkRequest& work, std::vector<double>& seconds) {
  Writer request;
  request.put(Request::time);
  work.put(request);
  std::string answer;
  ASSAY_TRY(std::optional<Reply> reply, ask_kernel(request, answer));
  if (reply) seconds = Reader(answer).take_all<double>();
  return reply;
}

Result<std::optional<Reply>> Gpu::replay_graph(const WorkRequest& work) {
  Writer request;
  request.put(Request::graph);
  work.put(request);
  std::string answer;
  return ask_kernel(request, answer);
}

Result<double> Gpu::copy_bandwidth() {
  Writer request;
  request.put(Request::copy_speed);
  ASSAY_TRY(const std::string answer, ask(request, load_limit));
  Reader in(answer);
  const Reply reply = Reply::take(in);
  if (reply.stage != Stage::done) return environment_error({}, "{}: a copy failed: {}", name(), reply.text);
  return in.take<double>();
}

LaunchLimits Gpu::limits() const {
  LaunchLimits limits;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    limits.grid[axis] = static_cast<std::uint64_t>(facts_.max_grid[axis]);
    limits.block[axis] = static_cast<std::uint64_t>(facts_.max_block[axis]);
  }
  limits.block_threads = static_cast<std::uint64_t>(facts_.max_block_threads);
  limits.shared = static_cast<std::uint64_t>(facts_.max_shared);
  return limits;
}

} // namespace assay::cuda
