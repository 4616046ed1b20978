// Which values of an input are legal for its operator; the generator draws no others, and the edges often.
#pragma once

#include "harness/inputs/domain_kind.h"

#include <string>

namespace assay {

struct Domain {
  using Kind = DomainKind;
  Kind kind = Kind::real;
  std::string limit;     // index, target: the dim that bounds it
  bool specials = false; // NaN and infinities may be drawn: the operator defines the result
};

} // namespace assay
