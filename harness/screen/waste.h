// What makes neighbours of a case that tell nothing (ScreenedCase::is_wasted): pieces (inputs/neighbours.h),
// learnt from the first neighbours of a burst.
#pragma once

#include "harness/inputs/neighbours.h"

#include <cstdint>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace assay {

class Waste {
 public:
  static constexpr std::size_t most = 8192; // neighbours; later ones add little

  bool is_full() const { return neighbours_.size() == most; }
  // A neighbour's pieces, each once, and whether it was wasted. Not full.
  void add(std::span<const Piece> pieces, bool wasted);

  // The pieces to blame, one after the other, the surest first. To blame is a piece with which neighbours
  // that are not wasted are a quarter as frequent as without it, or rarer; so at least three quarters of
  // those that have it are wasted, of at least three. Neighbours that have it count no more for the next
  // ones: what is merely seen beside it is innocent.
  std::set<Piece> culprits() const;

 private:
  struct Neighbour {
    std::vector<std::uint32_t> pieces; // in pieces_
    bool wasted = false;
  };
  std::vector<Neighbour> neighbours_;
  std::vector<Piece> pieces_;
  std::unordered_map<Piece, std::uint32_t> place_; // in pieces_
  bool any_ = false;
};

} // namespace assay
