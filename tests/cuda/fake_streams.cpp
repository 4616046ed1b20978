// The fake driver: launches, streams, events and graphs. What may run at once runs one after the other in an
// order that changes from time to time, so that an order that nobody asked for is found missing.
#include "tests/cuda/fake_state.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>

namespace assay::testing::fake {

struct Node {
  std::function<Status()> run;
  std::vector<std::size_t> waits_for; // places in FakeGraph::nodes
};
struct Graph {
  std::vector<Node> nodes;
};
struct Event {
  double clock = -1;
  unsigned recorded = 0, reached = 0; // how often
};
struct Item {
  std::function<Status()> run;
  const Event* waits_for = nullptr;
  unsigned until = 0; // it has been reached so often
  bool ready() const { return waits_for == nullptr || waits_for->reached >= until; }
};
struct Stream {
  std::deque<Item> items;
  std::unique_ptr<Graph> captured; // null: not being captured
};

namespace {

std::vector<std::unique_ptr<Stream>>& streams() {
  static std::vector<std::unique_ptr<Stream>> all;
  return all;
}

// One of `count`.
std::size_t choose(std::size_t count) {
  static std::uint32_t turn = 1;
  turn = turn * 1664525 + 1013904223;
  return (turn >> 16) % count;
}

// Until nothing is left on any stream.
Status drain() {
  for (;;) {
    std::vector<Stream*> ready;
    bool left = false;
    for (const auto& stream : streams()) {
      left = left || !stream->items.empty();
      if (!stream->items.empty() && stream->items.front().ready()) ready.push_back(stream.get());
    }
    if (!left) return state().broken;
    if (ready.empty()) std::abort(); // streams that wait for each other
    Stream& next = *ready[choose(ready.size())];
    const Item item = std::move(next.items.front());
    next.items.pop_front();
    item.run();
  }
}

Status run_graph(const Graph& graph) {
  std::vector<bool> done(graph.nodes.size());
  for (std::size_t left = graph.nodes.size(); left > 0; --left) {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      bool waits = done[i];
      for (const std::size_t before : graph.nodes[i].waits_for) waits = waits || !done[before];
      if (!waits) ready.push_back(i);
    }
    const std::size_t next = ready[choose(ready.size())];
    done[next] = true;
    if (const Status status = graph.nodes[next].run(); status != 0) return status;
  }
  return 0;
}

// With a copy of the parameters.
std::function<Status()> launch_of(const cuda::KernelLaunch& launch) {
  auto* of = static_cast<Function*>(launch.function);
  if (of->name == "assay_dirty_shared") {
    std::uint32_t word = 0;
    std::memcpy(&word, launch.parameters[1], sizeof word);
    return [word]() -> Status {
      state().shared_word = word;
      return state().broken;
    };
  }
  FakeGpuLaunch as_seen{.grid = {launch.grid[0], launch.grid[1], launch.grid[2]},
                        .block = {launch.block[0], launch.block[1], launch.block[2]},
                        .shared_bytes = launch.shared_bytes};
  std::vector<std::uint64_t> values;
  for (const std::uint32_t size : kernels().at(of->name).param_bytes) {
    values.push_back(0);
    std::memcpy(&values.back(), launch.parameters[values.size() - 1], size);
  }
  return [of, as_seen, values]() mutable -> Status {
    if (state().broken != 0) return state().broken;
    ++fake_counts().launched;
    state().clock += fake_gpu().launch_seconds;
    std::vector<void*> pointers;
    for (std::uint64_t& value : values) pointers.push_back(&value);
    as_seen.parameters = pointers.data();
    as_seen.device = state().device;
    as_seen.shared_word = state().shared_word;
    as_seen.variable = &of->module->variable;
    as_seen.counters = of->module->counts() ? of->module->counters.data() : nullptr;
    const Status status = kernels().at(of->name).run(as_seen);
    state().shared_word = 0;                       // what it leaves there is its own
    if (status == out_of_resources) return status; // refused: nothing else comes of it
    state().broken = status;
    return status;
  };
}

Status launch(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
              unsigned shared, void* stream, void** parameters, void**) {
  if (state().broken != 0) return state().broken;
  const std::string& name = static_cast<Function*>(function)->name;
  if (name == fake_gpu().refused_launch) return out_of_resources;
  auto* on = static_cast<Stream*>(stream);
  if (on != nullptr && on->captured != nullptr && name == fake_gpu().refused_in_graph)
    return capture_unsupported;
  const Status status = queue(stream, launch_of({.function = function,
                                                 .grid = {gx, gy, gz},
                                                 .block = {bx, by, bz},
                                                 .shared_bytes = shared,
                                                 .parameters = parameters}));
  // What a kernel did shows when it is waited for; that it was refused, at once.
  return stream == nullptr && status != out_of_resources ? 0 : status;
}

Status synchronize() { return drain(); }
Status stream_create(void** stream, unsigned) {
  *stream = streams().emplace_back(std::make_unique<Stream>()).get();
  return 0;
}
Status stream_destroy(void* stream) {
  std::erase_if(streams(), [&](const auto& one) { return one.get() == stream; });
  return 0;
}
Status stream_synchronize(void*) { return drain(); }
Status stream_wait(void* stream, void* event, unsigned) {
  const auto* of = static_cast<Event*>(event);
  static_cast<Stream*>(stream)->items.push_back({[] { return 0; }, of, of->recorded});
  return state().broken;
}

Status event_create(void** event, unsigned) {
  *event = new Event;
  return 0;
}
Status event_destroy(void* event) {
  delete static_cast<Event*>(event);
  return 0;
}
Status event_record(void* event, void* stream) {
  auto* of = static_cast<Event*>(event);
  ++of->recorded;
  return queue(stream, [of, which = of->recorded]() -> Status {
    of->reached = which;
    of->clock = state().clock;
    return state().broken;
  });
}
Status event_elapsed(float* milliseconds, void* from, void* to) {
  *milliseconds =
      static_cast<float>(1000 * (static_cast<Event*>(to)->clock - static_cast<Event*>(from)->clock));
  return state().broken;
}

Status begin_capture(void* stream, int) {
  if (stream == nullptr) return capture_unsupported; // as of CUDA's default stream
  static_cast<Stream*>(stream)->captured = std::make_unique<Graph>();
  return 0;
}
Status end_capture(void* stream, void** graph) {
  *graph = static_cast<Stream*>(stream)->captured.release();
  return 0;
}
Status graph_create(void** graph, unsigned) {
  *graph = new Graph;
  return 0;
}
// A node's handle is its place, counted from 1.
Status graph_add_kernel(void** node, void* graph, void* const* waits_for, std::size_t count,
                        const cuda::KernelLaunch* launch) {
  if (static_cast<Function*>(launch->function)->name == fake_gpu().refused_in_graph)
    return capture_unsupported;
  auto* to = static_cast<Graph*>(graph);
  Node& made = to->nodes.emplace_back(launch_of(*launch));
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = reinterpret_cast<std::size_t>(waits_for[i]);
    if (place == 0 || place >= to->nodes.size()) return invalid_value;
    made.waits_for.push_back(place - 1);
  }
  *node = reinterpret_cast<void*>(to->nodes.size());
  return 0;
}
Status graph_set_kernel(void* executable, void* node, const cuda::KernelLaunch* launch) {
  auto* in = static_cast<Graph*>(executable);
  const auto place = reinterpret_cast<std::size_t>(node);
  if (place == 0 || place > in->nodes.size()) return invalid_value;
  if (static_cast<Function*>(launch->function)->name == fake_gpu().refused_in_graph)
    return capture_unsupported;
  ++fake_counts().replaced;
  in->nodes[place - 1].run = launch_of(*launch);
  return 0;
}
Status instantiate(void** executable, void* graph, unsigned long long) {
  ++fake_counts().instantiated;
  *executable = new Graph(*static_cast<Graph*>(graph));
  return 0;
}
Status launch_graph(void* executable, void* stream) {
  ++fake_counts().graphs;
  const auto* graph = static_cast<Graph*>(executable);
  return queue(stream, [graph] { return run_graph(*graph); });
}
Status destroy_graph(void* graph) {
  delete static_cast<Graph*>(graph);
  return 0;
}

} // namespace

Status queue(void* stream, std::function<Status()> work) {
  if (stream == nullptr) return work();
  auto& on = *static_cast<Stream*>(stream);
  if (on.captured == nullptr) {
    on.items.push_back({std::move(work)});
    return state().broken;
  }
  std::vector<Node>& nodes = on.captured->nodes;
  nodes.push_back({std::move(work), {}});
  if (nodes.size() > 1) nodes.back().waits_for.push_back(nodes.size() - 2);
  return 0;
}

void add_streams(cuda::Driver& driver) {
  driver.launch = launch;
  driver.synchronize = synchronize;
  driver.stream_create = stream_create;
  driver.stream_destroy = stream_destroy;
  driver.stream_synchronize = stream_synchronize;
  driver.stream_wait = stream_wait;
  driver.event_create = event_create;
  driver.event_destroy = event_destroy;
  driver.event_record = event_record;
  driver.event_elapsed = event_elapsed;
  driver.begin_capture = begin_capture;
  driver.end_capture = end_capture;
  driver.graph_create = graph_create;
  driver.graph_add_kernel = graph_add_kernel;
  driver.graph_set_kernel = graph_set_kernel;
  driver.instantiate = instantiate;
  driver.launch_graph = launch_graph;
  driver.destroy_graph = destroy_graph;
  driver.destroy_executable = destroy_graph;
}

} // namespace assay::testing::fake
