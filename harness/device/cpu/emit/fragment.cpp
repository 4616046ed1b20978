#include "harness/device/cpu/emit/fragment.h"

#include <algorithm>

namespace assay::cpu {

unsigned bits_of(Element element) {
  switch (element) {
  case Element::f64:
    return 64;
  case Element::tf32:
  case Element::f32:
  case Element::s32:
    return 32;
  case Element::f16:
  case Element::bf16:
    return 16;
  case Element::e4m3:
  case Element::e5m2:
  case Element::s8:
  case Element::u8:
    return 8;
  case Element::s4:
  case Element::u4:
    return 4;
  case Element::b1:
    return 1;
  }
  return 0;
}

Shape parse_shape(std::string_view name) {
  Shape shape;
  unsigned* number = nullptr;
  for (const char c : name) {
    if (c == 'm') number = &shape.m;
    if (c == 'n') number = &shape.n;
    if (c == 'k') number = &shape.k;
    if (!number) return {};
    if (c >= '0' && c <= '9') *number = std::min(*number * 10 + static_cast<unsigned>(c - '0'), 1000u);
  }
  return shape.m != 0 && shape.n != 0 && shape.k != 0 ? shape : Shape{};
}

Fragment::Fragment(Part part, Shape shape, Element element)
    : accumulator_(part == Part::c), transposed_(shape.m == 8 && shape.n == 32), bits_(bits_of(element)),
      elements_(std::max(1u, 32 / bits_)) {
  const bool left = (part == Part::b) == transposed_; // or the accumulator
  if (accumulator_) {
    lines_ = transposed_ ? shape.n : shape.m;
    width_ = transposed_ ? shape.m : shape.n;
  } else {
    lines_ = part == Part::a ? shape.m : shape.n;
    width_ = shape.k;
  }
  tile_ = accumulator_ || left ? std::min(lines_, 16u) : 8;
}

unsigned Fragment::registers() const { return lines_ * width_ / (warp_lanes * elements_); }

Fragment::Position Fragment::at(unsigned reg, unsigned element, unsigned lane) const {
  const unsigned group = lane / 4, member = lane % 4, halves = tile_ / 8;
  if (!accumulator_) {
    const unsigned in_tile = halves * (width_ / (4 * elements_)); // registers
    const unsigned tile = reg / in_tile, r = reg % in_tile;
    return {tile * tile_ + group + 8 * (r % halves),
            4 * elements_ * (r / halves) + member * elements_ + element};
  }
  // an element of two: 2 member and the next, in one register or in two
  const unsigned pair = elements_ == 2 ? reg : reg / 2;
  const unsigned second = elements_ == 2 ? element : reg % 2;
  const unsigned tile = pair / halves;
  const bool down = lines_ > tile_;
  const unsigned line = (down ? tile * tile_ : 0) + group + 8 * (pair % halves);
  const unsigned across = (down ? 0 : tile * 8) + 2 * member + second;
  if (transposed_) return {across, line};
  return {line, across};
}

} // namespace assay::cpu
