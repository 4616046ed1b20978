#include "harness/device/cuda/server.h"

#include "harness/device/cuda/coverage.h"
#include "harness/device/cuda/graph.h"
#include "harness/device/cuda/server_batch.h"
#include "harness/device/cuda/timing.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace assay::cuda {

namespace {

// Writes a word again and again over all dynamic shared memory of its block. One block a multiprocessor, each
// with all the shared memory that a block may have, leaves the next kernel's full of it.
constexpr const char* dirty_shared_ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 memory[];
.visible .entry assay_dirty_shared(.param .u32 bytes, .param .u32 word)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  ld.param.u32 %r1, [bytes];
  ld.param.u32 %r2, [word];
  mov.u32 %r3, %tid.x;
  shl.b32 %r3, %r3, 2;
  mov.u32 %r4, %ntid.x;
  shl.b32 %r4, %r4, 2;
  mov.u32 %r5, memory;
$next:
  setp.ge.u32 %p1, %r3, %r1;
  @%p1 bra $done;
  add.u32 %r6, %r5, %r3;
  st.volatile.shared.u32 [%r6], %r2;
  add.u32 %r3, %r3, %r4;
  bra $next;
$done:
  ret;
}
)";

constexpr std::size_t log_bytes = 16384, message_bytes = std::size_t{128} << 10;
constexpr std::size_t pinned_blob = std::size_t{64} << 10; // for counters
constexpr std::size_t smallest_arena = std::size_t{1} << 20;

struct Module {
  void* handle = nullptr;
  std::vector<void*> functions;
  std::vector<FunctionFacts> facts;
  std::vector<int> allowed; // dynamic shared memory of each function
  Address counters = 0;     // of the counting world
  std::size_t counter_bytes = 0;
};

class Server {
 public:
  Server(const Driver& driver, int socket, const SharedMemory& memory)
      : driver_(driver), socket_(socket), memory_(memory), batch_(driver, memory) {}

  [[noreturn]] void run(int ordinal) {
    const Reply opened = open(ordinal);
    facts_.process = ::getpid();
    Writer hello = message_of(opened);
    hello.put(facts_);
    send(hello);
    if (opened.stage != Stage::done) ::_exit(0);
    std::string buffer(message_bytes, '\0');
    for (;;) {
      const ssize_t size = ::recv(socket_, buffer.data(), buffer.size(), 0);
      if (size <= 0) ::_exit(0);
      Reader in(std::string_view(buffer).substr(0, static_cast<std::size_t>(size)));
      answer(in);
    }
  }

 private:
  Reply failed(Stage stage, Status status) const { return {stage, status, error_text(driver_, status)}; }
  Reply failed_transfer(Status status) const {
    constexpr Status out_of_memory = 2;
    return failed(status == out_of_memory ? Stage::memory : Stage::transfer, status);
  }

  static Writer message_of(const Reply& reply) {
    Writer out;
    out.put(MessageKind::answer);
    reply.put(out);
    return out;
  }
  void send(const Writer& out) const {
    if (::send(socket_, out.bytes().data(), out.bytes().size(), MSG_NOSIGNAL) < 0) ::_exit(1);
  }

  void answer(Reader& in) {
    switch (in.take<Request>()) {
    case Request::compile: {
      const auto size = in.take<std::size_t>();
      std::size_t cubin = 0;
      Writer out = message_of(compile(size, cubin));
      out.put(cubin);
      return send(out);
    }
    case Request::load: {
      const auto id = in.take<std::uint32_t>();
      const auto world = in.take<std::uint32_t>();
      std::vector<std::string> entries(in.take<std::size_t>());
      for (std::string& entry : entries) entry = in.take_text();
      Module& module = modules_[{id, world}];
      Reply reply = load(module, memory_.blob(), entries);
      if (world == counting_world && reply.stage == Stage::done) reply = find_counters(module);
      Writer out = message_of(reply);
      for (const FunctionFacts& facts : module.facts) {
        out.put(facts.max_threads);
        out.put(facts.static_shared);
        out.put_all(facts.param_bytes);
      }
      return send(out);
    }
    case Request::run: {
      const auto bytes = in.take<std::size_t>();
      std::vector<WorldRun> runs(in.take<std::size_t>());
      for (WorldRun& run : runs) run = WorldRun::take(in);
      return send(message_of(run_all(runs, bytes)));
    }
    case Request::time: {
      WorkRequest request = WorkRequest::take(in);
      Work work;
      std::vector<double> seconds;
      Reply reply = prepare(request, work);
      if (reply.stage == Stage::done) reply = time_work(driver_, work, request.repeats, seconds);
      Writer out = message_of(reply);
      out.put_all(seconds);
      return send(out);
    }
    case Request::copy_speed: {
      double bytes_per_second = 0;
      Writer out = message_of(time_copy(driver_, bytes_per_second));
      out.put(bytes_per_second);
      return send(out);
    }
    case Request::graph: {
      WorkRequest request = WorkRequest::take(in);
      Work work;
      Reply reply = prepare(request, work);
      if (reply.stage == Stage::done) reply = reserve(1, request.arena_bytes);
      if (reply.stage == Stage::done)
        reply = replay_twice(driver_, work, request.arena_bytes, {memory_.world(0), memory_.world(1)});
      return send(message_of(reply));
    }
    case Request::open_batch:
      return send(message_of(open_batch(BatchOrder::take(in))));
    case Request::batch: {
      const auto cases = in.take<std::size_t>();
      const auto timed = in.take<bool>();
      std::vector<double> seconds;
      Writer out = message_of(batch_.run(cases, timed, seconds));
      out.put_all(seconds);
      return send(out);
    }
    }
    ::_exit(1);
  }

  Reply open(int ordinal) {
    const auto get = [&](int what, int& value) { return driver_.device_attribute(&value, what, device_); };
    void* context = nullptr;
    ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0); // the most: launches side by side share fewer queues
    Status status = driver_.init(0);
    if (status == success) status = driver_.version(&facts_.driver);
    if (status == success) status = driver_.device_count(&facts_.devices);
    if (status == success && ordinal >= facts_.devices)
      return {Stage::transfer, success,
              fmt::format("there is no GPU {}: this machine shows {} of them", ordinal, facts_.devices)};
    if (status == success) status = driver_.device(&device_, ordinal);
    if (status == success)
      status = driver_.device_name(facts_.name.data(), static_cast<int>(facts_.name.size()) - 1, device_);
    if (status == success) status = get(attribute::compute_major, facts_.compute_major);
    if (status == success) status = get(attribute::compute_minor, facts_.compute_minor);
    if (status == success) status = get(attribute::multiprocessors, facts_.multiprocessors);
    if (status == success) status = get(attribute::max_block_threads, facts_.max_block_threads);
    if (status == success) status = get(attribute::max_shared_opt_in, facts_.max_shared);
    for (int axis = 0; axis < 3; ++axis) {
      const auto at = static_cast<std::size_t>(axis);
      if (status == success) status = get(attribute::max_grid_x + axis, facts_.max_grid[at]);
      if (status == success) status = get(attribute::max_block_x + axis, facts_.max_block[at]);
    }
    if (status == success) status = driver_.retain_context(&context, device_);
    if (status == success) status = driver_.set_context(context);
    if (status != success) return failed(Stage::transfer, status);
    driver_.pin(memory_.blob(), pinned_blob, 0);
    Reply reply = load(dirty_, dirty_shared_ptx, {"assay_dirty_shared"});
    if (reply.stage == Stage::done) reply = allow_shared(dirty_, 0, facts_.max_shared);
    return reply;
  }

  Reply allow_shared(Module& module, std::size_t function, int bytes) const {
    if (bytes <= module.allowed[function]) return {};
    const Status status = driver_.set_function_attribute(module.functions[function],
                                                         function_attribute::max_dynamic_shared, bytes);
    if (status != success) return failed(Stage::launch, status);
    module.allowed[function] = bytes;
    return {};
  }

  Reply compile(std::size_t size, std::size_t& cubin_bytes) const {
    std::string log(log_bytes, '\0');
    int options[] = {jit::error_log, jit::error_log_bytes};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
    void *link = nullptr, *cubin = nullptr;
    Status status = driver_.link_create(2, options, values, &link);
    if (status != success) return failed(Stage::transfer, status);
    status = driver_.link_add(link, jit::input_ptx, memory_.blob(), size, "kernel.ptx", 0, nullptr, nullptr);
    if (status == success) status = driver_.link_complete(link, &cubin, &cubin_bytes);
    Reply reply;
    if (status != success) {
      reply = failed(Stage::compile, status);
      reply.text += "\n" + log.substr(0, log.find('\0'));
    } else if (cubin_bytes > blob_capacity) {
      reply = {Stage::memory, success, "the compiled program is too large"};
    } else {
      std::memcpy(memory_.blob(), cubin, cubin_bytes);
    }
    driver_.link_destroy(link);
    return reply;
  }

  // image: a cubin, or PTX that ends in a zero byte.
  Reply load(Module& module, const void* image, const std::vector<std::string>& entries) const {
    if (module.handle != nullptr) driver_.unload_module(module.handle);
    module = {};
    if (const Status status = driver_.load_module(&module.handle, image, 0, nullptr, nullptr);
        status != success) {
      module.handle = nullptr;
      return failed_transfer(status);
    }
    for (const std::string& entry : entries) {
      void* function = nullptr;
      FunctionFacts facts;
      Status status = driver_.function(&function, module.handle, entry.c_str());
      if (status == success)
        status =
            driver_.function_attribute(&facts.max_threads, function_attribute::max_block_threads, function);
      if (status == success)
        status =
            driver_.function_attribute(&facts.static_shared, function_attribute::static_shared, function);
      if (status != success) return failed_transfer(status);
      std::size_t offset = 0, size = 0;
      while (driver_.parameter_info(function, facts.param_bytes.size(), &offset, &size) == success)
        facts.param_bytes.push_back(static_cast<std::uint32_t>(size));
      module.functions.push_back(function);
      module.allowed.push_back(48 << 10); // what every kernel may have
      module.facts.push_back(std::move(facts));
    }
    return {};
  }

  Reply find_counters(Module& module) const {
    Status status = driver_.variable(&module.counters, &module.counter_bytes, module.handle, block_counters);
    if (status == success) status = driver_.fill(module.counters, 0, module.counter_bytes);
    return status == success ? Reply{} : failed_transfer(status);
  }

  Reply queue_counters(const Module& module) const {
    Status status = driver_.queue_to_host(memory_.blob(), module.counters, module.counter_bytes, nullptr);
    if (status == success) status = driver_.fill(module.counters, 0, module.counter_bytes);
    return status == success ? Reply{} : failed(Stage::transfer, status);
  }

  // Room for an arena here and there. Memory that cannot be pinned is only slower.
  Reply reserve(std::size_t world, std::size_t bytes) {
    Arena& arena = arenas_[world];
    if (bytes <= arena.capacity) return {};
    const bool shared = world != counting_world;
    if (arena.capacity > 0) driver_.release(arena.address);
    if (arena.pinned) driver_.unpin(memory_.world(world));
    arena = {};
    std::size_t capacity = smallest_arena;
    while (capacity < bytes) capacity *= 2;
    if (const Status status = driver_.allocate(&arena.address, capacity); status != success)
      return failed_transfer(status);
    arena.capacity = capacity;
    arena.pinned = shared && driver_.pin(memory_.world(world), capacity, 0) == success;
    return {};
  }

  // Everything is queued, and waited for once.
  Reply run_all(const std::vector<WorldRun>& runs, std::size_t bytes) {
    for (const WorldRun& run :
         runs) // before any copy: the counting world's comes from the first one's memory
      if (Reply reply = reserve(run.world, bytes); reply.stage != Stage::done) return reply;
    Reply reply;
    for (std::size_t i = 0; i < runs.size() && reply.stage == Stage::done; ++i)
      reply = queue_world(runs[i], bytes);
    // What a kernel did shows at whatever call comes after it, and then again here.
    if (const Status status = driver_.synchronize(); status != success) return failed(Stage::run, status);
    return reply;
  }

  Reply queue_world(const WorldRun& run, std::size_t bytes) {
    const bool counting = run.world == counting_world;
    const Address arena = arenas_[run.world].address;
    std::byte* here = memory_.world(counting ? 0 : run.world);
    if (run.upload && bytes > 0)
      if (const Status status = driver_.queue_to_device(arena, here, bytes, nullptr); status != success)
        return failed(Stage::transfer, status);
    for (const GpuLaunch& launch : run.launches)
      if (Reply reply = queue_launch(launch, run, arena); reply.stage != Stage::done) return reply;
    if (counting) return queue_counters(modules_.at({run.launches.back().module, counting_world}));
    if (bytes > 0)
      if (const Status status = driver_.queue_to_host(here, arena, bytes, nullptr); status != success)
        return failed(Stage::transfer, status);
    return {};
  }

  Reply queue_launch(const GpuLaunch& launch, const WorldRun& run, Address arena) {
    SharedDirt dirt = shared_dirt();
    std::uint32_t word = run.dirt;
    void* parameters[] = {&dirt.bytes, &word};
    dirt.launch.parameters = parameters;
    Status status = launch_on(driver_, dirt.launch, nullptr);
    if (status != success) return failed(Stage::transfer, status);

    BoundLaunch bound;
    if (Reply reply = bind(launch, run.world, bound); reply.stage != Stage::done) return reply;
    status = cuda::queue_launch(driver_, bound, arena, nullptr);
    return status == success ? Reply{} : failed(Stage::launch, status);
  }

  SharedDirt shared_dirt() const {
    SharedDirt dirt;
    dirt.bytes = static_cast<std::uint32_t>(facts_.max_shared);
    dirt.launch.function = dirty_.functions[0];
    dirt.launch.grid[0] = static_cast<unsigned>(facts_.multiprocessors);
    dirt.launch.block[0] = 1024;
    dirt.launch.shared_bytes = dirt.bytes;
    return dirt;
  }

  Reply open_batch(BatchOrder order) {
    std::vector<BatchRunner::Function> functions;
    for (const OrderedStep& step : order.steps) {
      Module& module = modules_.at({step.module, 0});
      if (Reply reply = allow_shared(module, step.function, static_cast<int>(step.shared_bytes));
          reply.stage != Stage::done)
        return reply;
      functions.push_back({module.functions.at(step.function),
                           step.shared_bytes > 0 || module.facts.at(step.function).static_shared > 0});
    }
    return batch_.open(std::move(order), std::move(functions), shared_dirt());
  }

  Reply bind(const GpuLaunch& launch, std::uint32_t world, BoundLaunch& bound) {
    Module& module = modules_.at({launch.module, world});
    bound = {module.functions.at(launch.function), launch};
    return allow_shared(module, launch.function, static_cast<int>(launch.shared_bytes));
  }

  // The arena is on its way to the GPU, if it is to go, and the launches have their functions.
  Reply prepare(const WorkRequest& request, Work& work) {
    if (Reply reply = reserve(request.run.world, request.arena_bytes); reply.stage != Stage::done)
      return reply;
    work.arena = arenas_[request.run.world].address;
    work.clears = request.clears;
    for (const GpuLaunch& launch : request.run.launches)
      if (Reply reply = bind(launch, request.run.world, work.launches.emplace_back());
          reply.stage != Stage::done)
        return reply;
    if (!request.run.upload || request.arena_bytes == 0) return {};
    const Status status =
        driver_.queue_to_device(work.arena, memory_.world(request.run.world), request.arena_bytes, nullptr);
    return status == success ? Reply{} : failed(Stage::transfer, status);
  }

  const Driver& driver_;
  int socket_;
  const SharedMemory& memory_;
  int device_ = 0;
  GpuFacts facts_;
  Module dirty_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Module> modules_; // by id and world
  struct Arena {
    Address address = 0;
    std::size_t capacity = 0;
    bool pinned = false; // as much of this side's memory
  };
  std::array<Arena, 3> arenas_; // by world
  BatchRunner batch_;
};

} // namespace

void serve(const Driver& driver, int ordinal, int socket, const SharedMemory& memory) {
  Server(driver, socket, memory).run(ordinal);
}

} // namespace assay::cuda
