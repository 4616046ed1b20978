// Launches run for more than their results: timed, and replayed from a graph.
#include "harness/base/check.h"
#include "harness/device/cuda/two_worlds.h"

#include <array>
#include <utility>

namespace assay::cuda {

Result<std::vector<double>> CudaDevice::time_launches(Program& any, std::span<const LaunchSpec> specs,
                                                      int repeats) {
  CudaProgram& program = own(any);
  ASSAY_CHECK(launches_.empty(), "a timing after a launch");
  ASSAY_TRY(const auto launches, translate_all(program, specs));
  if (const auto* broken = std::get_if<std::string>(&launches)) return environment_error({}, "{}", *broken);
  const bool fresh = !std::exchange(timed_, false);
  ASSAY_TRY_VOID(gpu_.ensure_module(program, fresh, std::array<std::uint32_t, 1>{0}));
  compose();
  const WorkRequest work{{0, 0, fresh, std::get<0>(launches)}, arena_.bytes(), arena_.clears(), repeats};
  std::vector<double> seconds;
  ASSAY_TRY(const std::optional<Reply> reply, gpu_.time(work, seconds));
  if (!reply) return environment_error({}, "{}: the timed launches did not end in time", name());
  if (reply->stage != Stage::done) return environment_error({}, "{}: {}", name(), reply->text);
  timed_ = true;
  return seconds;
}

Result<GraphReplay::Outcome> CudaDevice::replay_in_graph(Program& any, std::span<const LaunchSpec> specs) {
  CudaProgram& program = own(any);
  ASSAY_CHECK(launches_.empty(), "a graph after a launch");
  ASSAY_TRY(const auto translated, translate_all(program, specs));
  if (const auto* broken = std::get_if<std::string>(&translated)) return Outcome{*broken};
  for (const GpuLaunch& launch : std::get<0>(translated)) launches_.push_back({&program, launch});
  const auto outcome = compare_graph(program);
  forget_launches(program);
  return outcome;
}

// Of the launches in launches_, which nothing has run yet.
Result<GraphReplay::Outcome> CudaDevice::compare_graph(CudaProgram& program) {
  const auto ended_badly = [&](const std::optional<Reply>& reply) -> std::string {
    if (!reply) return "does not end";
    return reply->stage == Stage::done ? "" : reply->text;
  };
  ASSAY_TRY(const bool ended, replay(first_world));
  if (!ended) return Outcome{"the plain launches do not end well"};
  const std::vector<std::byte> plain(bytes_of(0), bytes_of(0) + arena_.bytes());

  ASSAY_TRY_VOID(gpu_.ensure_module(program, true, std::array<std::uint32_t, 1>{0}));
  arena_.compose(first_world, bytes_of(0));
  const WorkRequest work{whole_run(0, first_world), arena_.bytes(), arena_.clears(), 0};
  ASSAY_TRY(const std::optional<Reply> reply, gpu_.replay_graph(work));
  if (std::string text = ended_badly(reply); !text.empty()) {
    const bool captured = !reply || reply->stage != Stage::launch;
    return Outcome{fmt::format("{}: {}", captured ? "a replay" : "the launches cannot be captured", text)};
  }
  std::optional<Arena::Element> differs;
  const char* which = "first";
  for (const std::size_t turn : {0, 1}) {
    differs = arena_.difference(plain.data(), first_world, bytes_of(turn), first_world);
    if (differs) break;
    which = "second";
  }
  if (!differs) return Outcome{};
  for (int turn = 0; turn < alternations; ++turn) {
    ASSAY_TRY(const bool again, replay(first_world));
    if (!again || arena_.difference(plain.data(), first_world, bytes_of(0), first_world))
      return Outcome{.broken = {}, .steady = false};
  }
  return Outcome{.broken = fmt::format("{} is not what plain launches give it after the {} replay",
                                       arena_.element_text(*differs), which),
                 .other_bits = true};
}

} // namespace assay::cuda
