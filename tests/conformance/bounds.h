// How far an approximate instruction may be from the exact result, as the PTX ISA documents it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::conformance {

struct Bound {
  std::string_view instruction; // "ex2.approx.f32"
  double ulps = 0;              // of the result's own format
  double relative = 0;          // the allowed difference is the largest of the three
  double absolute = 0;
  double within = 0; // for |operand 0| up to this; 0: everywhere
  double far_absolute =
      0; // the allowed difference from there to `far_within`; beyond, the ISA promises nothing
  double far_within = 0;
  std::string_view source; // section of the ISA, and what it says
};

// Of a row's instruction; nothing: the bits must be equal.
std::optional<Bound> bound_of(std::string_view ptx);

} // namespace assay::conformance
