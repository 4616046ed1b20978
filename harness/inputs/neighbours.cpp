#include "harness/inputs/neighbours.h"

#include "harness/base/check.h"
#include "harness/inputs/draw.h"
#include "harness/inputs/shapes.h"

#include <algorithm>
#include <bit>

namespace assay {

namespace {

constexpr int tweaked_pieces = 12, fresh_pieces = 32, patch_pieces = 12, override_pieces = 16;
constexpr double specials_share = 0.1; // as of mutations
constexpr double largest_share = 0.1;  // most formulas may overflow there, and then nothing can be told

FillDistribution plain(const Distribution& distribution) {
  FillDistribution result;
  result.kind = find_distribution(distribution.kind)->kind;
  for (std::size_t i = 0; i < distribution.params.size(); ++i) result.p[i] = distribution.params[i].second;
  return result;
}

Distribution named(const FillDistribution& distribution) {
  return make_distribution(distribution.kind,
                           std::span(distribution.p, rule_of(distribution.kind).params.size()));
}

FillPatch plain(const LinePatch& patch) {
  return {patch.first, patch.step, patch.count, plain(patch.distribution)};
}

FillOverride plain(const ElementOverride& element, std::span<const std::int64_t> shape) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < element.index.size(); ++d) at = at * shape[d] + element.index[d];
  return {at, element.bits};
}

ElementOverride placed(const FillOverride& element, std::span<const std::int64_t> shape) {
  ElementOverride result{std::vector<std::int64_t>(shape.size()), element.bits};
  std::int64_t rest = element.index;
  for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) result.index[d] = rest % shape[d];
  return result;
}

bool is_seeded(const FillInput& input) {
  bool seeded = rule_of(input.base.kind).seeded;
  for (int i = 0; i < input.patches; ++i) seeded = seeded || rule_of(input.patch[i].distribution.kind).seeded;
  return seeded;
}

// An element that is given already is given anew.
void give(FillInput& input, const FillOverride& element) {
  FillOverride* const end = input.one + input.overrides;
  FillOverride* const given = std::ranges::find(input.one, end, element.index, &FillOverride::index);
  if (given == end) ++input.overrides;
  *given = element;
}

template <class T> const T& pick(const std::vector<T>& from, Rng& rng) { return rng.pick(std::span(from)); }

std::uint64_t mixed(std::uint64_t x) { // the finaliser of MurmurHash3
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
  return x ^ (x >> 33);
}

enum class Fills : std::uint64_t { all, patch, element };

template <class... Words> Piece piece(std::size_t input, Fills what, Words... words) {
  Piece result = mixed(4 * input + static_cast<std::uint64_t>(what) + 1);
  ((result = mixed(result + 0x9e3779b97f4a7c15 + std::bit_cast<std::uint64_t>(words))), ...);
  return result;
}

Piece piece(std::size_t input, Fills what, const FillDistribution& of) {
  return piece(input, what, static_cast<std::uint64_t>(of.kind), of.p[0], of.p[1], of.p[2]);
}
Piece piece(std::size_t input, const FillPatch& patch) {
  return piece(input, Fills::patch, patch.distribution);
}
Piece piece(std::size_t input, const FillOverride& element) {
  return piece(input, Fills::element, element.bits);
}

template <class T> std::span<T> in_use(T* first, std::int32_t count) {
  return {first, static_cast<std::size_t>(count)};
}

} // namespace

void pieces_of(std::span<const FillInput> neighbour, std::vector<Piece>& to) {
  to.clear();
  for (std::size_t i = 0; i < neighbour.size(); ++i) {
    to.push_back(piece(i, Fills::all, neighbour[i].base));
    for (const FillPatch& patch : in_use(neighbour[i].patch, neighbour[i].patches))
      to.push_back(piece(i, patch));
    for (const FillOverride& element : in_use(neighbour[i].one, neighbour[i].overrides))
      to.push_back(piece(i, element));
  }
  std::ranges::sort(to);
  to.erase(std::ranges::unique(to).begin(), to.end());
}

std::optional<FillInput> to_fill_input(const TensorInput& input, std::span<const std::int64_t> shape) {
  if (input.patches.size() > fill_patches || input.overrides.size() > fill_overrides) return std::nullopt;
  FillInput result;
  result.seed = input.seed;
  result.base = plain(input.distribution);
  for (const LinePatch& patch : input.patches) result.patch[result.patches++] = plain(patch);
  for (const ElementOverride& element : input.overrides)
    result.one[result.overrides++] = plain(element, shape);
  return result;
}

void set_values(TensorInput& input, const FillInput& fill, std::span<const std::int64_t> shape) {
  input.seed = fill.seed;
  input.distribution = named(fill.base);
  input.patches.clear();
  for (const FillPatch& patch : std::span(fill.patch, static_cast<std::size_t>(fill.patches)))
    input.patches.push_back({patch.first, patch.step, patch.count, named(patch.distribution)});
  input.overrides.clear();
  for (const FillOverride& element : std::span(fill.one, static_cast<std::size_t>(fill.overrides)))
    input.overrides.push_back(placed(element, shape));
}

Neighbours::Neighbours(const Case& parent, const CaseSpace& space, std::uint64_t seed,
                       const CanFill& can_fill)
    : parent_(parent), seed_(mixed(seed ^ 0x9e3779b97f4a7c15)) {
  Rng rng(seed_);
  for (std::size_t i = 0; i < parent_.inputs.size(); ++i) {
    const auto spec = std::ranges::find(space.inputs, parent_.inputs[i].tensor, &InputSpec::name);
    ASSAY_CHECK(spec != space.inputs.end(), "input {} is not of this kernel", parent_.inputs[i].tensor);
    palettes_.push_back(palette_of(parent_.inputs[i], *spec, parent_, rng,
                                   [&](const FillDistribution& piece) { return can_fill(i, piece); }));
  }
}

Neighbours::Palette Neighbours::palette_of(const TensorInput& input, const InputSpec& spec,
                                           const Case& parent, Rng& rng,
                                           const std::function<bool(const FillDistribution&)>& can_fill) {
  const auto shape = shape_of(spec, parent.dims);
  ASSAY_CHECK(shape.has_value(), "the shape of {}: {}", input.tensor, shape.error().message);
  Palette palette;
  palette.shape = *shape;
  palette.usual = plain(usual_distribution(spec.domain));
  const auto takes = [&](const FillDistribution& piece) {
    return can_fill(piece) && (piece.kind != DistributionKind::largest || rng.chance(largest_share));
  };
  const auto add = [&](std::vector<FillDistribution>& to, const Distribution& distribution) {
    if (const FillDistribution piece = plain(distribution); takes(piece)) to.push_back(piece);
  };
  const auto specials = [&] {
    return spec.domain.specials && parent.pass == Pass::forward && rng.chance(specials_share);
  };
  for (int i = 0; i < tweaked_pieces; ++i) add(palette.tweaked, tweak(input.distribution, rng));
  for (int i = 0; i < fresh_pieces; ++i) add(palette.fresh, draw_distribution(spec.domain, specials(), rng));
  leave_some(palette);
  for (int i = 0; i < patch_pieces && line_count(*shape) > 0; ++i)
    if (const FillPatch piece = plain(draw_patch(*shape, spec.domain, specials(), rng));
        takes(piece.distribution))
      palette.patches.push_back(piece);
  for (int i = 0; i < override_pieces && element_count(*shape) > 0; ++i)
    palette.overrides.push_back(plain(draw_override(*shape, spec.domain, spec.dtype.value_or(parent.dtype),
                                                    index_limit(spec.domain, parent.dims), specials(), rng),
                                      *shape));

  TensorInput kept = input;
  if (kept.patches.size() > fill_patches) kept.patches.resize(fill_patches);
  if (kept.overrides.size() > fill_overrides) kept.overrides.resize(fill_overrides);
  std::erase_if(kept.patches, [&](const LinePatch& patch) { return !can_fill(plain(patch.distribution)); });
  palette.kept = *to_fill_input(kept, *shape);
  if (!can_fill(palette.kept.base)) palette.kept.base = palette.usual;
  return palette;
}

void Neighbours::leave_some(Palette& palette) {
  if (palette.fresh.empty()) palette.fresh.push_back(palette.usual);
  if (palette.tweaked.empty()) palette.tweaked = palette.fresh;
}

void Neighbours::avoid(std::uint64_t from, const std::set<Piece>& pieces) {
  ASSAY_CHECK(reduced_.empty() || reduced_.back().from <= from, "neighbours from {} on, after {}", from,
              reduced_.back().from);
  Reduced reduced{from, palettes_};
  for (std::size_t i = 0; i < palettes_.size(); ++i) {
    Palette& palette = reduced.palettes[i];
    const auto is_out = [&](const auto& patch_or_element) {
      return pieces.contains(piece(i, patch_or_element));
    };
    const auto is_out_as_base = [&](const FillDistribution& base) {
      const Piece of = piece(i, Fills::all, base);
      return of != piece(i, Fills::all, palette.usual) && pieces.contains(of);
    };
    if (FillInput& kept = palette.kept; is_out_as_base(kept.base) ||
                                        std::ranges::any_of(in_use(kept.patch, kept.patches), is_out) ||
                                        std::ranges::any_of(in_use(kept.one, kept.overrides), is_out)) {
      kept = FillInput{};
      kept.base = palette.usual;
    }
    std::erase_if(palette.fresh, is_out_as_base);
    std::erase_if(palette.tweaked, is_out_as_base);
    std::erase_if(palette.patches, is_out);
    std::erase_if(palette.overrides, is_out);
    leave_some(palette);
  }
  reduced_.push_back(std::move(reduced));
}

const std::vector<Neighbours::Palette>& Neighbours::palettes_for(std::uint64_t k, Rng& rng) const {
  const auto found = std::find_if(reduced_.rbegin(), reduced_.rend(),
                                  [&](const Reduced& reduced) { return reduced.from <= k; });
  return found == reduced_.rend() || rng.below(with_all) == 0 ? palettes_ : found->palettes;
}

void Neighbours::change(FillInput& input, const Palette& palette, Rng& rng) {
  const std::uint64_t what = rng.below(16);
  if (what < 5) {
    input.base = pick(palette.fresh, rng);
  } else if (what < 9) {
    input.base = pick(palette.tweaked, rng);
  } else if (what < 11) {
    const std::uint64_t seed = input.seed;
    input = FillInput{};
    input.seed = seed;
    input.base = palette.usual;
  } else if (what < 14) {
    if (input.patches > 0 && (input.patches == fill_patches || rng.chance(0.4)))
      --input.patches;
    else if (!palette.patches.empty())
      input.patch[input.patches++] = pick(palette.patches, rng);
  } else {
    if (input.overrides > 0 && (input.overrides == fill_overrides || rng.chance(0.4)))
      --input.overrides;
    else if (!palette.overrides.empty())
      give(input, pick(palette.overrides, rng));
  }
}

void Neighbours::draw(std::uint64_t k, std::span<FillInput> out) const {
  ASSAY_CHECK(out.size() == palettes_.size(), "{} inputs, not {}", palettes_.size(), out.size());
  Rng rng(seed_ + 1 + k);
  const std::vector<Palette>& palettes = palettes_for(k, rng);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = palettes[i].kept;
    out[i].seed = 1 + (rng.next() >> 24);
  }
  if (out.empty()) return;
  const auto change_one = [&] {
    const std::size_t which = rng.below(out.size());
    change(out[which], palettes[which], rng);
  };
  const std::uint64_t luck = rng.below(8);
  for (int changes = luck < 2 ? 0 : luck < 6 ? 1 : 2; changes > 0; --changes) change_one();
  // Where no seed matters, only other values make another case.
  for (int tries = 0; tries < 4 && std::ranges::none_of(out, is_seeded); ++tries) change_one();
}

Case Neighbours::make(std::uint64_t k) const {
  std::vector<FillInput> fills(palettes_.size());
  draw(k, fills);
  Case result = parent_;
  result.expect = {};
  for (std::size_t i = 0; i < fills.size(); ++i) set_values(result.inputs[i], fills[i], palettes_[i].shape);
  return result;
}

} // namespace assay
