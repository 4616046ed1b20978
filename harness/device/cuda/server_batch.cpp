#include "harness/device/cuda/server_batch.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace assay::cuda {

namespace {

constexpr std::size_t smallest_memory = std::size_t{1} << 20, smallest_pinned = std::size_t{1} << 20;
constexpr std::size_t most_graphs = 8;           // of a lane; they take the GPU's memory
constexpr unsigned char unwritten_result = 0xff; // batch.h

std::uint32_t factor_of(BatchStep::Over over, std::uint32_t cases, std::uint32_t twins) {
  switch (over) {
  case BatchStep::Over::slots:
    return cases + twins;
  case BatchStep::Over::cases:
    return cases;
  case BatchStep::Over::twins:
    return twins;
  case BatchStep::Over::each:
  case BatchStep::Over::blocks:
    break;
  }
  return 1;
}

} // namespace

// Events between the groups of a wave, and what they add up to.
struct BatchRunner::Stopwatch {
  std::vector<std::unique_ptr<Handle>> events; // one more than groups
  std::vector<double> seconds;                 // of groups

  Status create(const Driver& driver, std::size_t groups) {
    seconds.resize(groups);
    Status status = success;
    while (events.size() <= groups && status == success)
      status =
          driver.event_create(events.emplace_back(std::make_unique<Handle>(driver.event_destroy))->out(), 0);
    return status;
  }
  // Once the GPU is done with the wave.
  Status add(const Driver& driver) {
    Status status = success;
    for (std::size_t i = 0; i < seconds.size() && status == success; ++i) {
      float milliseconds = 0;
      status = driver.event_elapsed(&milliseconds, events[i]->get(), events[i + 1]->get());
      seconds[i] += static_cast<double>(milliseconds) / 1000;
    }
    return status;
  }
};

Reply BatchRunner::open(BatchOrder order, std::vector<Function> functions, const SharedDirt& dirt) {
  lanes_.clear();
  groups_.clear();
  order_ = std::move(order);
  functions_ = std::move(functions);
  dirt_ = dirt;
  ++opened_;
  for (std::size_t i = 0; i < order_.steps.size(); ++i) {
    const bool chains = order_.steps[i].over == BatchStep::Over::each;
    if (!chains || groups_.empty() || !groups_.back().chains) groups_.push_back({i, i, chains, false});
    groups_.back().last = i + 1;
    groups_.back().shared |= functions_[i].shared;
  }
  if (Reply reply = reserve(); reply.stage != Stage::done) return reply;
  Status status = pin(order_.common_bytes);
  while (streams_.size() < lanes_.size() && status == success)
    status = streams_.emplace_back().create(driver_, order_.tuning.streams);
  graphs_.resize(std::max(graphs_.size(), lanes_.size()));
  if (status == success && order_.common_bytes > 0)
    status = driver_.to_device(memory_base_, memory_.staging(), order_.common_bytes);
  return status == success ? Reply{} : failed(Stage::transfer, status);
}

// As many lanes as there is room for, in one piece of memory that only ever grows.
Reply BatchRunner::reserve() {
  layout_ = lane_layout(order_);
  std::size_t common = 0;
  common = (order_.common_bytes + batch_alignment - 1) / batch_alignment * batch_alignment;
  Status status = success;
  for (std::size_t lanes = order_.tuning.lanes; lanes > 0; --lanes) {
    const std::size_t bytes = common + lanes * layout_.bytes;
    if (layout_.bytes > batch_memory || bytes > batch_memory) continue;
    if (bytes > capacity_) {
      if (capacity_ > 0) driver_.release(memory_base_);
      capacity_ = 0;
      const std::size_t rounded = std::clamp(std::bit_ceil(bytes), smallest_memory, batch_memory);
      if (status = driver_.allocate(&memory_base_, rounded); status != success) continue;
      capacity_ = rounded;
    }
    for (std::size_t i = 0; i < lanes; ++i)
      lanes_.emplace_back().base = memory_base_ + common + i * layout_.bytes;
    return {};
  }
  return failed(Stage::memory, status);
}

// Memory that cannot be pinned is only slower.
Status BatchRunner::pin(std::size_t bytes) {
  if (bytes <= pinned_) return success;
  if (pinned_ > 0)
    if (const Status status = driver_.unpin(memory_.staging()); status != success) return status;
  const std::size_t rounded = std::max(std::bit_ceil(bytes), smallest_pinned);
  pinned_ = driver_.pin(memory_.staging(), rounded, 0) == success ? rounded : 0;
  return success;
}

void** BatchRunner::parameters(const OrderedStep& step, const Lane& lane, const Wave& wave,
                               std::size_t slot) {
  using Area = BatchArgument::Area;
  values_.clear();
  pointers_.clear();
  for (const BatchArgument& argument : step.args) {
    std::uint64_t value = argument.bits;
    switch (argument.area) {
    case Area::value:
      break;
    case Area::common:
      value += memory_base_;
      break;
    case Area::given:
      value += lane.base + layout_.given;
      break;
    case Area::slot:
      value += lane.base + layout_.slots + slot * order_.slot_bytes;
      break;
    case Area::scratch:
      value += lane.base + layout_.scratch;
      break;
    case Area::results:
      value = lane.base + layout_.results[argument.bits];
      break;
    case Area::cases:
      value = wave.cases;
      break;
    }
    values_.push_back(value);
  }
  for (std::uint64_t& value : values_) pointers_.push_back(&value);
  return pointers_.data();
}

KernelLaunch BatchRunner::shape(std::size_t index) const {
  const OrderedStep& step = order_.steps[index];
  KernelLaunch launch;
  launch.function = functions_[index].handle;
  std::ranges::copy(step.grid, launch.grid);
  std::ranges::copy(step.block, launch.block);
  launch.shared_bytes = step.shared_bytes;
  return launch;
}

Reply BatchRunner::run(std::size_t cases, bool timed, std::vector<double>& seconds) {
  const StagingLayout staging = staging_layout(order_, cases);
  Status status = pin(staging.bytes);
  Stopwatch watch;
  if (status == success && timed) status = watch.create(driver_, groups_.size());
  const std::size_t lanes = timed ? 1 : lanes_.size();
  std::size_t lane = 0;
  for (std::size_t first = 0; first < cases && status == success;) {
    const auto of_wave = static_cast<std::uint32_t>(std::min<std::size_t>(order_.wave_cases, cases - first));
    Wave wave{first, of_wave, std::min(order_.wave_twins, of_wave)};
    const std::size_t to_come = ((cases - first) / order_.wave_cases + lanes - 1) / lanes; // on this lane
    wave.graph = of_wave == order_.wave_cases &&
                 (timed || lanes_[lane].waves + to_come >= order_.tuning.worth_a_graph);
    status = queue_wave(lane, wave, staging, timed ? &watch : nullptr);
    if (timed && status == success) status = driver_.stream_synchronize(streams_[lane].trunk);
    if (timed && status == success) status = watch.add(driver_);
    if (of_wave == order_.wave_cases) ++lanes_[lane].waves;
    first += of_wave;
    lane = (lane + 1) % lanes;
  }
  // What a kernel did shows at whatever call comes after it, and then again here.
  if (const Status ended = driver_.synchronize(); ended != success) return failed(Stage::run, ended);
  if (status != success) return failed(Stage::launch, status);
  if (timed) {
    seconds.assign(order_.steps.size(), 0);
    for (std::size_t i = 0; i < groups_.size(); ++i) seconds[groups_[i].first] = watch.seconds[i];
  }
  return {};
}

Status BatchRunner::queue_wave(std::size_t index, const Wave& wave, const StagingLayout& staging,
                               Stopwatch* watch) {
  const Lane& lane = lanes_[index];
  void* const stream = streams_[index].trunk;
  Status status = success;
  // Timed, only chains are a graph's, and it is not made between the events.
  const auto chained = [&](std::size_t group) { return wave.graph && groups_[group].chains; };
  for (std::size_t i = 0; watch != nullptr && i < groups_.size(); ++i)
    if (chained(i)) graph_of(index, wave, {i, i + 1});
  if (order_.given_bytes > 0)
    status = driver_.queue_to_device(lane.base + layout_.given,
                                     memory_.staging() + wave.first * order_.given_bytes,
                                     wave.cases * order_.given_bytes, stream);
  if (status == success && !layout_.results.empty())
    status = driver_.queue_fill(lane.base + layout_.results.front(), unwritten_result,
                                layout_.bytes - layout_.results.front(), stream);
  if (watch == nullptr && status == success) status = queue_groups(index, wave, {0, groups_.size()});
  for (std::size_t i = 0; watch != nullptr && i < groups_.size() && status == success; ++i) {
    status = driver_.event_record(watch->events[i]->get(), stream);
    const Wave part{wave.first, wave.cases, wave.twins, chained(i)};
    if (status == success) status = queue_groups(index, part, {i, i + 1});
  }
  if (watch != nullptr && status == success)
    status = driver_.event_record(watch->events.back()->get(), stream);
  for (std::size_t i = 0; i < layout_.results.size() && status == success; ++i) {
    const std::size_t bytes = order_.result_bytes[i];
    status = driver_.queue_to_host(memory_.staging() + staging.results[i] + wave.first * bytes,
                                   lane.base + layout_.results[i], wave.cases * bytes, stream);
  }
  return status;
}

// What does not become a graph is queued launch by launch, where an error of the GPU shows again.
Status BatchRunner::queue_groups(std::size_t index, const Wave& wave, const Groups& groups) {
  if (wave.graph)
    if (void* const graph = graph_of(index, wave, groups); graph != nullptr)
      return driver_.launch_graph(graph, streams_[index].trunk);
  StreamFan fan(driver_, streams_[index]);
  return launch_groups(fan, lanes_[index], wave, groups);
}

// Null: there can be none.
void* BatchRunner::graph_of(std::size_t index, const Wave& wave, const Groups& groups) {
  KeptGraphs& graphs = graphs_[index];
  const std::pair key(groups, shape_of(wave, groups));
  auto found = graphs.find(key);
  if (found == graphs.end()) {
    if (graphs.size() >= most_graphs) graphs.clear();
    found = graphs.try_emplace(key, driver_).first;
  }
  KeptGraph& kept = found->second;
  if (kept.opened == opened_) return kept.refused ? nullptr : kept.graph.executable.get();
  kept.opened = opened_;
  const Lane& lane = lanes_[index];
  GraphUpdate update(driver_, order_.tuning.chains, kept.graph);
  if (!kept.refused && kept.graph.executable.get() != nullptr &&
      launch_groups(update, lane, wave, groups) == success)
    return kept.graph.executable.get();
  graphs.erase(found);
  KeptGraph& made = graphs.try_emplace(key, driver_).first->second;
  made.opened = opened_;
  made.refused = make(made, lane, wave, groups) != success;
  return made.refused ? nullptr : made.graph.executable.get();
}

Status BatchRunner::make(KeptGraph& kept, const Lane& lane, const Wave& wave, const Groups& groups) {
  GraphFan fan(driver_, order_.tuning.chains, kept.graph);
  Status status = fan.create();
  if (status == success) status = launch_groups(fan, lane, wave, groups);
  return status == success ? fan.finish() : status;
}

// What decides which launch waits for which.
BatchRunner::Shape BatchRunner::shape_of(const Wave& wave, const Groups& groups) const {
  Shape shape = {order_.tuning.chains, wave.cases, wave.twins};
  for (std::size_t i = groups.first; i < groups.second; ++i) {
    const Group& group = groups_[i];
    const bool none = !group.chains && order_.steps[group.first].over == BatchStep::Over::twins;
    shape.insert(shape.end(), {group.last - group.first, group.chains, group.chains && group.shared, none});
  }
  return shape;
}

Status BatchRunner::launch_groups(Fan& fan, const Lane& lane, const Wave& wave, const Groups& groups) {
  Status status = success;
  for (std::size_t i = groups.first; i < groups.second && status == success; ++i)
    status = groups_[i].chains ? launch_chains(fan, lane, wave, groups_[i])
                               : launch_single(fan, lane, wave, groups_[i].first);
  return status;
}

Status BatchRunner::launch_single(Fan& fan, const Lane& lane, const Wave& wave, std::size_t index) {
  const OrderedStep& step = order_.steps[index];
  KernelLaunch launch = shape(index);
  if (step.over == BatchStep::Over::blocks)
    launch.grid[0] = std::min(launch.grid[0], wave.cases);
  else
    launch.grid[0] *= factor_of(step.over, wave.cases, wave.twins);
  if (launch.grid[0] == 0) return success; // over twins, of which there are none
  launch.parameters = parameters(step, lane, wave, 0);
  return fan.launch_alone(launch);
}

// The cases' chains side by side. Twins go with them, unless the kernels use shared memory: then it is filled
// with the first world's word before all of them, and the twins come last, step by step, each step's launches
// right behind the second world's word.
Status BatchRunner::launch_chains(Fan& fan, const Lane& lane, const Wave& wave, const Group& group) {
  const auto launch = [&](unsigned branch, std::size_t step, std::uint32_t slot) {
    KernelLaunch made = shape(step);
    made.parameters = parameters(order_.steps[step], lane, wave, slot);
    return fan.launch(branch, made);
  };
  const bool dirt = group.shared && wave.twins > 0;
  const std::uint32_t slots = wave.cases + (dirt ? 0 : wave.twins);
  unsigned width = std::min(fan.width(), slots);
  Status status = dirt ? launch_dirt(fan, shared_pattern.first) : success;
  if (status == success) status = fan.fork(width);
  for (std::uint32_t slot = 0; slot < slots; ++slot)
    for (std::size_t step = group.first; step < group.last && status == success; ++step)
      status = launch(slot % width, step, slot);
  if (status == success) status = fan.join();
  width = std::min(fan.width(), wave.twins);
  for (std::size_t step = group.first; dirt && step < group.last && status == success; ++step) {
    status = launch_dirt(fan, shared_pattern.second);
    if (status == success) status = fan.fork(width);
    for (std::uint32_t twin = 0; twin < wave.twins && status == success; ++twin)
      status = launch(twin % width, step, wave.cases + twin);
    if (status == success) status = fan.join();
  }
  return status;
}

Status BatchRunner::launch_dirt(Fan& fan, Pattern pattern) {
  std::uint32_t bytes = dirt_.bytes, word = std::uint32_t{pattern} << 16 | pattern;
  void* parameters[] = {&bytes, &word};
  KernelLaunch launch = dirt_.launch;
  launch.parameters = parameters;
  return fan.launch_alone(launch);
}

} // namespace assay::cuda
