#include "harness/screen/waste.h"

#include "harness/base/check.h"

#include <algorithm>
#include <optional>

namespace assay {

namespace {

struct Count {
  std::uint64_t seen = 0, wasted = 0;

  void add(bool is_wasted) {
    ++seen;
    wasted += is_wasted;
  }
  void remove(bool is_wasted) {
    --seen;
    wasted -= is_wasted;
  }
  std::uint64_t told() const { return seen - wasted; }
  // Of neighbours that are not wasted, by Laplace's rule of succession: few that are seen prove little.
  double told_share() const { return static_cast<double>(told() + 1) / static_cast<double>(seen + 2); }
};

bool is_to_blame(const Count& with, const Count& all) {
  const std::uint64_t seen = all.seen - with.seen, told = all.told() - with.told(); // without it
  return seen > 0 && 4 * with.told_share() * static_cast<double>(seen) < static_cast<double>(told);
}

} // namespace

void Waste::add(std::span<const Piece> pieces, bool wasted) {
  ASSAY_CHECK(!is_full(), "more than {} neighbours", most);
  Neighbour& neighbour = neighbours_.emplace_back(Neighbour{{}, wasted});
  neighbour.pieces.reserve(pieces.size());
  for (const Piece piece : pieces) {
    const auto [place, is_new] = place_.try_emplace(piece, static_cast<std::uint32_t>(pieces_.size()));
    if (is_new) pieces_.push_back(piece);
    neighbour.pieces.push_back(place->second);
  }
  any_ = any_ || wasted;
}

std::set<Piece> Waste::culprits() const {
  std::set<Piece> result;
  if (!any_) return result;
  Count all;
  std::vector<Count> counts(pieces_.size());
  for (const Neighbour& neighbour : neighbours_) {
    all.add(neighbour.wasted);
    for (const std::uint32_t piece : neighbour.pieces) counts[piece].add(neighbour.wasted);
  }
  std::vector<const Neighbour*> left;
  for (const Neighbour& neighbour : neighbours_) left.push_back(&neighbour);
  for (;;) {
    std::optional<std::uint32_t> worst;
    for (std::uint32_t piece = 0; piece < counts.size(); ++piece)
      if (is_to_blame(counts[piece], all) &&
          (!worst || counts[piece].told_share() < counts[*worst].told_share()))
        worst = piece;
    if (!worst) return result;
    result.insert(pieces_[*worst]);
    std::erase_if(left, [&](const Neighbour* neighbour) {
      if (std::ranges::find(neighbour->pieces, *worst) == neighbour->pieces.end()) return false;
      all.remove(neighbour->wasted);
      for (const std::uint32_t piece : neighbour->pieces) counts[piece].remove(neighbour->wasted);
      return true;
    });
  }
}

} // namespace assay
