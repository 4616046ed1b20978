// Neighbours of a case: the same kernel, type, pass, dims, params, layouts and schedule, and other inputs.
// Each is told by a number: a hundred nanoseconds make what fills its inputs, and only the few that anyone
// asks about become cases.
#pragma once

#include "harness/inputs/fill_input.h"
#include "harness/inputs/space.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace assay {

// The same in plain numbers; nothing where it takes more places than there are. `shape` is the input's.
std::optional<FillInput> to_fill_input(const TensorInput& input, std::span<const std::int64_t> shape);
// Gives `input` the values that `fill` says; its name, type and layout stay.
void set_values(TensorInput& input, const FillInput& fill, std::span<const std::int64_t> shape);

// What an input of a neighbour is filled from: the distribution of all of it, of a patch, or the bits of a
// single element. Equal ones at other lines and places of the same input are one piece.
using Piece = std::uint64_t;
// Of a neighbour, each once; `to` is overwritten.
void pieces_of(std::span<const FillInput> neighbour, std::vector<Piece>& to);

class Neighbours {
 public:
  // Of the neighbours that should do without some pieces one in so many may have them.
  static constexpr std::uint64_t with_all = 16;

  // Whether whoever fills can fill input number `input` (in the parent's order) from this.
  using CanFill = std::function<bool(std::size_t input, const FillDistribution& distribution)>;

  // parent: legal in the space. seed: the same parent under another seed has other neighbours.
  Neighbours(const Case& parent, const CaseSpace& space, std::uint64_t seed, const CanFill& can_fill);

  std::size_t inputs() const { return palettes_.size(); }
  const Case& parent() const { return parent_; }

  // What fills the inputs of neighbour number k, in the parent's order: every seed new, and of the
  // distributions, patches and single elements none, one or two changed or drawn anew.
  void draw(std::uint64_t k, std::span<FillInput> out) const;
  // The same neighbour as a case, legal in the space.
  Case make(std::uint64_t k) const;

  // From number `from` on, which is not below that of an earlier call, neighbours do without these pieces;
  // what earlier calls named is back. An input of the parent with any of them is filled from its usual
  // distribution alone; that one is never out. Neighbours below `from` stay the same.
  void avoid(std::uint64_t from, const std::set<Piece>& pieces);

 private:
  // Between which pieces the neighbours choose for one input, drawn once: what a mutation draws.
  struct Palette {
    std::vector<std::int64_t> shape;
    FillInput kept; // the parent's
    FillDistribution usual;
    std::vector<FillDistribution> tweaked, fresh;
    std::vector<FillPatch> patches;      // none where there are no lines
    std::vector<FillOverride> overrides; // none where there are no elements
  };
  static Palette palette_of(const TensorInput& input, const InputSpec& spec, const Case& parent, Rng& rng,
                            const std::function<bool(const FillDistribution&)>& can_fill);
  static void leave_some(Palette& palette);
  static void change(FillInput& input, const Palette& palette, Rng& rng);
  const std::vector<Palette>& palettes_for(std::uint64_t k, Rng& rng) const;

  Case parent_;
  std::uint64_t seed_;
  std::vector<Palette> palettes_;
  struct Reduced {
    std::uint64_t from = 0;
    std::vector<Palette> palettes;
  };
  std::vector<Reduced> reduced_; // the latest last
};

} // namespace assay
