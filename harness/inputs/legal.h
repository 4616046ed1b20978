// Pieces of legality that check_case, repair and the mutators share.
#pragma once

#include "harness/inputs/space.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace assay {

using Dims = std::vector<std::pair<std::string, std::int64_t>>;
using Shape = std::vector<std::int64_t>;

// The value of a dim; -1 where there is none of that name.
std::int64_t dim_value(const Dims& dims, std::string_view name);

// How many lines (slices along the last dimension) a shape has; 0 where it has no elements.
std::int64_t line_count(const Shape& shape);
std::int64_t element_count(const Shape& shape);

// The bound of an index domain under these dims; 0 for other domains.
std::int64_t index_limit(const Domain& domain, const Dims& dims);

// Whether an input takes part in this pass.
bool takes_part(const InputSpec& spec, Pass pass);

// Whether the strides keep every two elements apart, span at most 2^31 elements, and are allowed; the offset
// likewise. nullopt, or what is wrong.
std::optional<std::string> layout_fault(const Layout& layout, const Shape& shape, const LayoutText& allowed);

// Strides of a tensor whose rows (and, where allowed, elements) lie apart by the given paddings; empty where
// the layout allows no strides or the tensor has no elements.
std::vector<std::int64_t> padded_strides(const Shape& shape, const LayoutText& allowed,
                                         std::int64_t row_padding, std::int64_t element_step);

// What there is of a budget's quantity. User error where its expression fails.
Result<std::int64_t> amount_of(const Budget& budget, const Dims& dims);

// Whether dims keep within the element budget and every other budget of the space, each divided by `share`.
bool within_budgets(const Dims& dims, const CaseSpace& space, std::int64_t share = 1);

// What drawn and mutated cases take of the budgets; only the sweep takes all.
inline constexpr std::int64_t usual_share = 4;

// The sizes at which something is known to turn along a dim: in the manifest's words or, where there are
// both, as often in what device code compared.
std::span<const std::int64_t> known_sizes(const CaseSpace& space, std::size_t dim, Rng& rng);

// Halves the dims that exceed their smallest by most until the budgets hold; false where even the smallest do
// not.
bool fit_budgets(Dims& dims, const CaseSpace& space, std::int64_t share = 1);

// The plainest values that show something: N(0, 1) for reals, legal ones for other domains.
Distribution usual_distribution(const Domain& domain);

// The sign of a floating type's bits.
inline std::uint64_t sign_bit(DType type) { return std::uint64_t{1} << (8 * size_of(type) - 1); }

// Override bits of one type as those of another: the nearest finite value, infinities as they are, and of a
// NaN that it is one, and its sign.
std::uint64_t convert_bits(DType from, DType to, std::uint64_t bits);

// Changes the case's type and the bits of overrides with it.
void set_dtype(Case& test_case, DType dtype);

// Moves everything inside the space but keeps kernel, tolerance and expectation, and knows no budgets. What a
// tensor's new shape cuts off (overrides, patches) is dropped, or where `keep_places`, moved to the nearest
// place inside. User error where the space has no legal dims.
Result<void> make_legal(Case& test_case, const CaseSpace& space, bool keep_places = false);

} // namespace assay
