#include "harness/device/cpu/emit/mma.h"

#include "harness/device/cpu/emit/accumulate.h"
#include "harness/device/cpu/runtime/math.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace assay::cpu {
namespace {

constexpr unsigned most_lines = 32, most_depth = 64;
template <class T> using Matrix = std::array<std::array<T, most_depth>, most_lines>; // [line][along k]

template <class T> T word_of(const MatrixOperand& operand, std::size_t index) {
  T word;
  std::memcpy(&word, operand.values + index * sizeof word, sizeof word);
  return word;
}

template <class T> void set_word(MatrixOperand& operand, std::size_t index, T word) {
  std::memcpy(operand.values + index * sizeof word, &word, sizeof word);
}

std::uint32_t raw(const MatrixOperand& operand, unsigned bits, std::uint16_t at) {
  const auto first = static_cast<unsigned>(at) * bits; // the elements lie one after the other
  const auto word = word_of<std::uint32_t>(operand, first / 32) >> (first % 32);
  return bits == 32 ? word : word & ((1u << bits) - 1);
}

// The element's place where all lanes' registers stand one after the other.
std::uint16_t number_of(const Fragment& fragment, unsigned reg, unsigned lane, unsigned element) {
  return static_cast<std::uint16_t>((reg * warp_lanes + lane) * fragment.elements() + element);
}

std::vector<std::uint16_t> places(const Fragment& fragment, unsigned lines, unsigned width) {
  std::vector<std::uint16_t> at(std::size_t{lines} * width);
  for (unsigned reg = 0; reg < fragment.registers(); ++reg)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      for (unsigned element = 0; element < fragment.elements(); ++element) {
        const Fragment::Position p = fragment.at(reg, element, lane);
        at[std::size_t{p.line} * width + p.across] = number_of(fragment, reg, lane, element);
      }
  return at;
}

// The order along k in which 8-bit floats are added: two of every four, then the other two.
std::vector<std::uint16_t> halves_first(const std::vector<std::uint16_t>& at, unsigned depth) {
  std::vector<std::uint16_t> result;
  for (std::size_t line = 0; line < at.size(); line += depth)
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned k = 0; k < depth; ++k)
        if (k % 4 / 2 == half) result.push_back(at[line + k]);
  return result;
}

template <class T, class Read>
void gather(Matrix<T>& matrix, const std::vector<std::uint16_t>& at, unsigned lines, unsigned depth,
            Read read) {
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned k = 0; k < depth; ++k) matrix[line][k] = read(at[line * depth + k]);
}

// The first operand that is a NaN, made quiet; where none is, the operation itself was invalid.
double nan_of(double first, double second, double third) {
  for (const double x : {first, second, third})
    if (std::isnan(x)) return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) | std::uint64_t{1} << 51);
  return std::bit_cast<double>(std::uint64_t{0xfff8} << 48);
}

std::uint32_t bits_in(Element element, double x) {
  return element == Element::f16 ? bits_f16(x) : bits_f32(x);
}

double value_in(Element element, std::uint32_t bits) {
  if (element == Element::f16)
    return static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
  return static_cast<double>(std::bit_cast<float>(bits));
}

// An element of d in 32 bits or two to a register.
void put(MatrixOperand& d, unsigned bits, std::uint16_t at, std::uint32_t value) {
  if (bits == 16)
    set_word(d, at, static_cast<std::uint16_t>(value));
  else
    set_word(d, at, value);
}

void multiply_floats(const MatrixProduct& p, MatrixOperands& o) {
  std::array<FactorRow, most_depth> right; // [along k], columns beside each other
  std::array<Factor, most_depth> line;
  for (unsigned column = 0; column < p.shape.n; ++column) {
    factors_of(p.b, o.b.values, &p.b_at[column * p.depth], p.depth, line.data());
    for (unsigned k = 0; k < p.depth; ++k) {
      right[k].values[column] = static_cast<double>(line[k].value);
      right[k].exponents[column] = line[k].exponent;
    }
  }
  // of f16 only where both ends are: else the sums are f32's
  const Element type = p.c == Element::f16 && p.d == Element::f16 ? Element::f16 : Element::f32;
  for (unsigned row = 0; row < p.shape.m; ++row) {
    const std::size_t first = std::size_t{row} * p.shape.n;
    std::array<Factor, most_columns> addends;
    std::array<std::uint32_t, most_columns> sums{};
    factors_of(p.a, o.a.values, &p.a_at[row * p.depth], p.depth, line.data());
    factors_of(p.c, o.c.values, &p.c_at[first], p.shape.n, addends.data());
    for (unsigned column = 0; column < p.shape.n && !p.adds_apart; ++column)
      sums[column] = bits_in(type, static_cast<double>(addends[column].value));
    for (unsigned k = 0; k < p.depth; k += p.step)
      accumulate(type, &line[k], &right[k], p.step, p.shape.n, sums.data());
    for (unsigned column = 0; column < p.shape.n; ++column) {
      std::uint32_t bits = sums[column];
      if (p.adds_apart || p.d != type) { // exact in double, or as good for f32
        const double sum = value_in(type, bits);
        bits = bits_in(p.d, p.adds_apart ? sum + static_cast<double>(addends[column].value) : sum);
      }
      put(o.d, bits_of(p.d), p.d_at[first + column], bits);
    }
  }
}

// A chain of fused multiply-adds along k, 32 elements of d at a time.
void multiply_f64(const MatrixProduct& p, MatrixOperands& o) {
  for (unsigned first = 0; first < p.shape.m * p.shape.n; first += warp_lanes) {
    std::array<double, warp_lanes> a{}, b{}, sum{}, next{};
    for (unsigned i = 0; i < warp_lanes; ++i) sum[i] = word_of<double>(o.c, p.c_at[first + i]);
    for (unsigned k = 0; k < p.depth; ++k) {
      for (unsigned i = 0; i < warp_lanes; ++i) {
        const unsigned row = (first + i) / p.shape.n, column = (first + i) % p.shape.n;
        a[i] = word_of<double>(o.a, p.a_at[row * p.depth + k]);
        b[i] = word_of<double>(o.b, p.b_at[column * p.depth + k]);
      }
      assay_fma_f64(a.data(), b.data(), sum.data(), next.data(), static_cast<unsigned>(p.rounding));
      for (unsigned i = 0; i < warp_lanes; ++i)
        sum[i] = std::isnan(next[i]) ? nan_of(b[i], sum[i], a[i]) : next[i];
    }
    for (unsigned i = 0; i < warp_lanes; ++i) set_word(o.d, p.d_at[first + i], sum[i]);
  }
}

std::int32_t integer_of(Element element, std::uint32_t bits) {
  switch (element) {
  case Element::s8:
    return static_cast<std::int8_t>(bits);
  case Element::s4:
    return static_cast<std::int32_t>(bits << 28) >> 28;
  default:
    return static_cast<std::int32_t>(bits);
  }
}

void multiply_integers(const MatrixProduct& p, MatrixOperands& o) {
  Matrix<std::int32_t> left, right;
  const auto reader = [](const MatrixOperand& operand, Element element) {
    return [&operand, element, bits = std::max(bits_of(element), element == Element::b1 ? 32u : 0u)](
               std::uint16_t at) { return integer_of(element, raw(operand, bits, at)); };
  };
  gather(left, p.a_at, p.shape.m, p.depth, reader(o.a, p.a));
  gather(right, p.b_at, p.shape.n, p.depth, reader(o.b, p.b));
  for (unsigned row = 0; row < p.shape.m; ++row)
    for (unsigned column = 0; column < p.shape.n; ++column) {
      const unsigned at = row * p.shape.n + column;
      std::int32_t sum = 0;
      for (unsigned k = 0; k < p.depth; ++k) {
        const std::int32_t x = left[row][k], y = right[column][k];
        if (p.bits == BitOperation::none)
          sum += x * y;
        else
          sum += std::popcount(static_cast<std::uint32_t>(p.bits == BitOperation::and_ ? x & y : x ^ y));
      }
      std::int64_t total = std::int64_t{sum} + static_cast<std::int32_t>(raw(o.c, 32, p.c_at[at]));
      if (p.saturates)
        total = std::clamp<std::int64_t>(total, std::numeric_limits<std::int32_t>::min(),
                                         std::numeric_limits<std::int32_t>::max());
      put(o.d, 32, p.d_at[at], static_cast<std::uint32_t>(total));
    }
}

bool any_undefined(const MatrixOperand& operand) {
  return std::ranges::any_of(operand.undefined, [](std::uint32_t lanes) { return lanes != 0; });
}

// Which lines of a factor hold an undefined element.
std::array<bool, most_lines> undefined_lines(const MatrixOperand& operand,
                                             const std::vector<std::uint16_t>& at, unsigned lines,
                                             unsigned elements) {
  std::array<bool, most_lines> result{};
  const auto depth = static_cast<unsigned>(at.size()) / lines;
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned k = 0; k < depth; ++k) {
      const unsigned place = at[line * depth + k] / elements;
      if ((operand.undefined[place / warp_lanes] >> (place % warp_lanes) & 1) != 0) result[line] = true;
    }
  return result;
}

void mark_undefined(const MatrixProduct& p, MatrixOperands& o) {
  std::ranges::fill(o.d.undefined, 0u);
  if (!any_undefined(o.a) && !any_undefined(o.b) && !any_undefined(o.c)) return;
  const auto elements = [](Element e) { return e == Element::b1 ? 1u : std::max(1u, 32 / bits_of(e)); };
  const auto rows = undefined_lines(o.a, p.a_at, p.shape.m, elements(p.a));
  const auto columns = undefined_lines(o.b, p.b_at, p.shape.n, elements(p.b));
  for (unsigned row = 0; row < p.shape.m; ++row)
    for (unsigned column = 0; column < p.shape.n; ++column) {
      const unsigned at = row * p.shape.n + column;
      const unsigned from = p.c_at[at] / elements(p.c), to = p.d_at[at] / elements(p.d);
      const bool addend = (o.c.undefined[from / warp_lanes] >> (from % warp_lanes) & 1) != 0;
      if (rows[row] || columns[column] || addend) o.d.undefined[to / warp_lanes] |= 1u << (to % warp_lanes);
    }
}

} // namespace

void prepare(MatrixProduct& product) {
  MatrixProduct& p = product;
  // single bits are counted in words of 32, which lie as tf32 numbers do
  const bool bits = p.a == Element::b1;
  Shape words = p.shape;
  if (bits) words.k /= 32;
  p.depth = words.k;
  p.a_at = places(Fragment(Part::a, words, bits ? Element::s32 : p.a), p.shape.m, p.depth);
  p.b_at = places(Fragment(Part::b, words, bits ? Element::s32 : p.b), p.shape.n, p.depth);
  p.c_at = places(Fragment(Part::c, p.shape, p.c), p.shape.m, p.shape.n);
  p.d_at = places(Fragment(Part::c, p.shape, p.d), p.shape.m, p.shape.n);
  p.step = p.depth;
  if (p.wmma && p.a == Element::tf32) p.step = 4;
  if (p.a == Element::e4m3 || p.a == Element::e5m2) {
    p.a_at = halves_first(p.a_at, p.depth);
    p.b_at = halves_first(p.b_at, p.depth);
    p.step = p.depth / 2;
    p.adds_apart = true;
  }
}

extern "C" {
void assay_matrix_product(const MatrixProduct* product, MatrixOperands* operands) {
  mark_undefined(*product, *operands);
  switch (product->d) {
  case Element::f64:
    return multiply_f64(*product, *operands);
  case Element::s32:
    return multiply_integers(*product, *operands);
  default:
    return multiply_floats(*product, *operands);
  }
}
}

} // namespace assay::cpu
