// How many cases a second the screen tries on a device, and where the time goes: offset_rmsnorm bf16, forward
// and backward, at three shapes, over the neighbours that a search draws, with the host's looks at what is
// not clean and at a sample, suspects and their confirmation included. And whether memory stays flat over
// cases of changing shapes.
//   screen_speed cuda [MANIFEST [SECONDS a shape and pass [CASES of changing shapes [ONE shape: 8x4096]]]]
#include "fuzz/bursts.h"
#include "fuzz/open_device.h"
#include "harness/base/child_process.h"
#include "harness/base/since.h"
#include "harness/run/judge.h"
#include "harness/screen/recheck.h"
#include "harness/screen/screen.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

template <class T> T value_or_exit(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "screen_speed: {}\n", to_string(result.error()));
  std::exit(exit_code(result.error().kind));
}

CaseSpace narrowed(CaseSpace space, std::int64_t rows, std::int64_t cols, Pass pass) {
  space.dtypes = {DType::bf16};
  space.has_backward = pass == Pass::backward;
  for (DimRange& dim : space.dims) {
    dim.min = dim.max = dim.name == "rows" ? rows : cols;
    dim.near.clear();
    dim.production.clear();
  }
  return space;
}

struct Totals {
  std::uint64_t clean = 0, flagged = 0, twins = 0, lost = 0, parents = 0, host = 0, lucky = 0, findings = 0;
  double seconds = 0, burst_seconds = 0, parent_seconds = 0;
  std::map<std::string, std::uint64_t> reasons;
};

// Bursts of new parents, each with the host's looks at it, until the time is up.
class Search {
 public:
  Search(Kernel& kernel, Screen& screen) : kernel_(kernel), screen_(screen), recheck_(kernel, screen) {}

  // As long as a campaign's worker lets it take.
  void one(const Case& parent, const CaseSpace& space, BurstRequest request) {
    const auto begin = Clock::now();
    const Judgement judgement = judged(parent);
    request.seconds = std::clamp(Bursts::later * since(begin), Bursts::shortest, Bursts::longest);
    const double of_parent = since(begin);
    totals.parent_seconds += of_parent;
    ++totals.parents;
    const Burst burst = value_or_exit(screen_.burst(parent, space, request));
    totals.clean += burst.clean();
    totals.flagged += burst.flagged();
    totals.twins += burst.twins;
    totals.burst_seconds += burst.seconds;
    for (const Burst::Flagged* alike : burst.by_weight())
      totals.reasons[reasons_text(alike->kept.front())] += alike->count;
    if (burst.lost()) {
      totals.lost += burst.lost()->count;
      fmt::print("lost {} cases: {}\n", burst.lost()->count, burst.lost()->why);
    }
    const auto disagreement = value_or_exit(recheck_.look_at(
        burst, judgement, of_parent, [&](const Case& c) { return std::optional(judged(c)); }));
    if (disagreement) {
      fmt::print("DISAGREEMENT: {}\n{}", disagreement->message, to_text(disagreement->test_case));
      std::exit(70);
    }
    totals.seconds += since(begin);
  }

  Totals totals;
  const Recheck& recheck() const { return recheck_; }

 private:
  Judgement judged(const Case& test_case) {
    Judgement judgement = value_or_exit(judge(kernel_, test_case));
    totals.lucky += judgement.lucky.size();
    totals.findings += judgement.findings.size();
    ++totals.host;
    return judgement;
  }

  Kernel& kernel_;
  Screen& screen_;
  Recheck recheck_;
};

// Microseconds a case, everything included; cases that are not clean and that nobody judged are no cases.
double measure(Kernel& kernel, Screen& screen, std::int64_t rows, std::int64_t cols, Pass pass,
               double seconds) {
  const CaseSpace space = narrowed(kernel.space(), rows, cols, pass);
  std::vector<Case> parents;
  for (Rng rng(1); parents.size() < 64;) {
    Case drawn = draw_case(space, rng);
    if (drawn.pass == pass) parents.push_back(std::move(drawn));
  }
  const double burst_seconds = rows * cols > 100'000 ? 1.0 : 0.1;
  value_or_exit(screen.burst(parents[0], space, {.seed = 1, .seconds = burst_seconds})); // compiles, captures
  Search search(kernel, screen);
  for (std::uint64_t i = 0; i < parents.size() * 1000 && search.totals.seconds < seconds; ++i)
    search.one(parents[i % parents.size()], space, {.seed = i});
  const Totals& t = search.totals;
  const Recheck::Counts& looks = search.recheck().counts();
  const double cases = static_cast<double>(t.clean + t.host - looks.sampled); // each once
  fmt::print(
      "{}x{} {}: {:.0f} cases/s, {:.2f} us a case; {} clean, {} not clean ({} judged by the host, {} by "
      "nobody), {} sampled, {} parents, {} twins, {} lucky references, {} findings; of the time: bursts "
      "{:.1f} %, parents on the host {:.1f} %, looks {:.1f} %\n",
      rows, cols, pass == Pass::forward ? "forward" : "backward", cases / t.seconds, t.seconds * 1e6 / cases,
      t.clean, t.flagged, looks.flagged, looks.unjudged, looks.sampled, t.parents, t.twins, t.lucky,
      t.findings, 100 * t.burst_seconds / t.seconds, 100 * t.parent_seconds / t.seconds,
      100 * looks.seconds / t.seconds);
  for (const auto& [why, count] : t.reasons) fmt::print("    {} x {}\n", count, why);
  const Burst timed =
      value_or_exit(screen.burst(parents[0], space, {.seed = 1, .seconds = burst_seconds, .timed = true}));
  double all = 0;
  for (const double step : timed.step_seconds) all += step;
  const double timed_cases = static_cast<double>(timed.screened() + 1);
  fmt::print("    one wave at a time, {:.2f} us a case:", all * 1e6 / timed_cases);
  for (std::size_t s = 0; s < timed.step_seconds.size(); ++s)
    fmt::print(" {} {:.2f} ({:.0f} %)", timed.step_names[s], timed.step_seconds[s] * 1e6 / timed_cases,
               100 * timed.step_seconds[s] / all);
  fmt::print("\n");
  std::fflush(stdout);
  return t.seconds * 1e6 / cases;
}

void measure_pair(Kernel& kernel, Screen& screen, std::int64_t rows, std::int64_t cols, double seconds) {
  const double forward = measure(kernel, screen, rows, cols, Pass::forward, seconds);
  const double backward = measure(kernel, screen, rows, cols, Pass::backward, seconds);
  fmt::print("{}x{}: {:.0f} pairs/s (a forward and a backward case, {:.2f} us)\n\n", rows, cols,
             1e6 / (forward + backward), forward + backward);
  std::fflush(stdout);
}

std::string gpu_memory() {
  const auto run =
      run_child("/usr/bin/env", {"nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader"}, "",
                std::chrono::seconds(5));
  if (!run) return "?";
  std::string text = run->out.substr(0, run->out.find_last_not_of('\n') + 1);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

long resident_megabytes() {
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * 4 / 1024;
}

void changing_shapes(Kernel& kernel, Screen& screen, std::uint64_t cases) {
  Search search(kernel, screen);
  Rng rng(3);
  std::uint64_t told = 0;
  const auto begin = Clock::now();
  for (std::uint64_t seed = 0; search.totals.clean + search.totals.flagged < cases; ++seed) {
    search.one(draw_case(kernel.space(), rng), kernel.space(), {.seed = seed, .most = 256});
    const std::uint64_t done = search.totals.clean + search.totals.flagged;
    if (done < told) continue;
    fmt::print("changing shapes: {} cases of {} shapes in {:.1f} s, {} clean, GPU memory {}, host {} MB\n",
               done, seed + 1, since(begin), search.totals.clean, gpu_memory(), resident_megabytes());
    std::fflush(stdout);
    told = done + cases / 10;
  }
  for (const auto& [why, count] : search.totals.reasons) fmt::print("    {} x {}\n", count, why);
  fmt::print("    {} lucky references, {} findings\n", search.totals.lucky, search.totals.findings);
}

} // namespace
} // namespace assay

int main(int argc, char** argv) {
  using namespace assay;
  const auto device = value_or_exit(open_device(argc > 1 ? argv[1] : default_device()));
  const char* manifest = argc > 2 ? argv[2] : "kernels/offset_rmsnorm/kernel.toml";
  const double seconds = argc > 3 ? std::strtod(argv[3], nullptr) : 4;
  const std::uint64_t changing = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 0;
  KernelOptions options;
  options.element_budget = std::int64_t{1} << 22;
  const auto kernel = value_or_exit(Kernel::load(manifest, *device, options));
  const auto screen = Screen::create(*kernel);
  fmt::print("{} on {}\n", manifest, device->name());
  if (!screen) {
    fmt::print("this device has no screen\n");
    return 4;
  }
  const std::string only = argc > 5 ? argv[5] : ""; // of the shapes: "8x4096"
  const auto pair = [&](std::int64_t rows, std::int64_t cols, double of_pair) {
    if (of_pair > 0 && (only.empty() || only == fmt::format("{}x{}", rows, cols)))
      measure_pair(*kernel, *screen, rows, cols, of_pair);
  };
  pair(3, 257, seconds);
  pair(8, 4096, seconds);
  pair(256, 5120, 5 * seconds); // a case of the host's alone takes half a second
  if (changing > 0) changing_shapes(*kernel, *screen, changing);
  return 0;
}
