#include "harness/inputs/legal.h"
#include "harness/inputs/shapes.h"
#include "harness/run/suspect_tests.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace assay {

namespace {

// Sizes at which a cut of the work comes out even, and sizes at which it does not.
struct Cut {
  std::string what; // "multiples of 32"
  std::vector<std::int64_t> even, odd;
};

Cut multiples_of(std::int64_t tile) {
  return {fmt::format("multiples of {}", tile),
          {tile, 2 * tile, 3 * tile, 4 * tile},
          {tile - 1, tile + 1, 2 * tile - 1, 2 * tile + 1, 3 * tile + 2, 4 * tile - 2}};
}

Cut powers_of_two() { return {"powers of two", {32, 64, 128, 256}, {33, 48, 63, 65, 96, 130}}; }

// nullopt: it fails at an even size too, or not where the cut is odd.
std::optional<CauseEvidence> beside(const Scene& scene, const FailingTrial& failing, const std::string& dim,
                                    const Cut& cut) {
  std::vector<std::int64_t> right_at, wrong_at;
  const auto fails = [&](std::int64_t size) -> std::optional<bool> {
    const auto other = resized(scene.kernel, failing.test_case, dim, size);
    if (!other) return std::nullopt;
    return try_failing(scene.kernel, *other, scene.finding.signature.output).has_value();
  };
  for (const std::int64_t size : cut.even)
    if (const auto wrong = fails(size)) {
      if (*wrong) return std::nullopt;
      right_at.push_back(size);
    }
  int right_beside = 0;
  for (const std::int64_t size : cut.odd)
    if (const auto wrong = fails(size)) {
      if (*wrong)
        wrong_at.push_back(size);
      else
        ++right_beside;
    }
  if (right_at.size() < 3 || wrong_at.size() < 3 || std::ssize(wrong_at) < right_beside) return std::nullopt;
  return CauseEvidence{Cause::indexing, right_beside == 0 ? 0.9 : 0.75,
                       fmt::format("wrong at {} = {}, right at {}: only beside {}", dim,
                                   fmt::join(wrong_at, ", "), fmt::join(right_at, ", "), cut.what)};
}

// The first cut that accounts for it; ascending, for what holds beside multiples of 4 holds beside those
// of 32.
std::optional<CauseEvidence> beside_a_cut(const Scene& scene, const FailingTrial& failing) {
  for (const DimRange& range : scene.kernel.space().dims) {
    if (range.pinned()) continue;
    for (const std::int64_t tile : tile_sizes(scene.kernel, failing.trial.plan))
      if (auto evidence = beside(scene, failing, range.name, multiples_of(tile))) return evidence;
    if (auto evidence = beside(scene, failing, range.name, powers_of_two())) return evidence;
  }
  return std::nullopt;
}

} // namespace

Evidences suspect_sizes(const Scene& scene) {
  for (const FailingTrial& failing : scene.trials) {
    if (work_of(failing.test_case.dims) > little_work) continue;
    if (auto evidence = beside_a_cut(scene, failing)) return {*std::move(evidence)};
  }
  return {};
}

} // namespace assay
