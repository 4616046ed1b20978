#include "harness/inputs/legal.h"
#include "harness/inputs/shapes.h"
#include "harness/run/suspect_tests.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace assay {

namespace {

struct SizesTried {
  std::vector<std::int64_t> failing, passing;
};

// The dim at multiples of the tile, and beside them; empty where fewer than two of each are legal.
std::optional<CauseEvidence> beside_multiples(const Scene& scene, const FailingTrial& failing,
                                              const std::string& dim, std::int64_t tile) {
  SizesTried at, beside;
  for (const std::int64_t size : {tile, 2 * tile, 3 * tile, 4 * tile, tile - 1, tile + 1, 2 * tile - 1,
                                  2 * tile + 1, 3 * tile + 2, 4 * tile - 2}) {
    const auto other = resized(scene.kernel, failing.test_case, dim, size);
    if (!other) continue;
    const bool fails = try_failing(scene.kernel, *other, scene.finding.signature.output).has_value();
    SizesTried& tried = size % tile == 0 ? at : beside;
    (fails ? tried.failing : tried.passing).push_back(size);
    if (!at.failing.empty()) return std::nullopt;
  }
  if (at.passing.size() < 3 || beside.failing.size() < 3 || beside.failing.size() < beside.passing.size())
    return std::nullopt;
  std::ranges::sort(beside.failing);
  const double score = beside.passing.empty() ? 0.9 : 0.75;
  return CauseEvidence{Cause::indexing, score,
                       fmt::format("wrong at {} = {}, right at {}: only beside multiples of {}", dim,
                                   fmt::join(beside.failing, ", "), fmt::join(at.passing, ", "), tile)};
}

} // namespace

Evidences suspect_sizes(const Scene& scene) {
  Evidences found;
  for (const FailingTrial& failing : scene.trials) {
    const bool small = std::ranges::all_of(
        failing.trial.inputs, [](const Tensor& input) { return input.element_count() <= (1 << 16); });
    if (!small) continue;
    for (const DimRange& range : scene.kernel.space().dims) {
      if (range.pinned()) continue;
      // Ascending: what holds for multiples of 4 holds for those of 32.
      for (const std::int64_t tile : tile_sizes(scene.kernel, failing.trial.plan))
        if (auto evidence = beside_multiples(scene, failing, range.name, tile)) {
          found.push_back(*std::move(evidence));
          break;
        }
    }
    if (!found.empty()) break;
  }
  return found;
}

} // namespace assay
