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
  double within = 0;       // for |operand 0| up to this; beyond it the ISA promises nothing. 0: everywhere
  std::string_view source; // where the ISA says so
};

// Of a row's instruction; nothing: the bits must be equal.
std::optional<Bound> bound_of(std::string_view ptx);

} // namespace assay::conformance
