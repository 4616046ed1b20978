// Launches from the start again, to say why an output differs between the worlds.
#include "harness/device/cuda/two_worlds.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace assay::cuda {

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

} // namespace assay::cuda
