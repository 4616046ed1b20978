#include "harness/inputs/kinds.h"

#include "harness/numerics/formats.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace assay {

namespace {

using Kind = DistributionKind;

bool is_one_of(Kind kind, std::initializer_list<Kind> kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

} // namespace

bool fits(Kind kind, const Domain& domain) {
  switch (domain.kind) {
  case Domain::Kind::real:
  case Domain::Kind::quantizable:
    if (kind == Kind::specials) return domain.specials && domain.kind == Domain::Kind::real;
    return !is_one_of(kind, {Kind::legal, Kind::rotary, Kind::rotary_split});
  case Domain::Kind::index:
  case Domain::Kind::target:
    return is_one_of(kind, {Kind::zero, Kind::constant, Kind::index_coded, Kind::legal});
  case Domain::Kind::boolean:
    return is_one_of(
        kind, {Kind::zero, Kind::constant, Kind::alternating, Kind::one_hot, Kind::sparse, Kind::legal});
  case Domain::Kind::code:
    return is_one_of(
        kind, {Kind::zero, Kind::constant, Kind::alternating, Kind::ramp, Kind::index_coded, Kind::legal});
  case Domain::Kind::scale:
    return is_one_of(kind, {Kind::constant, Kind::powers_of_two, Kind::all_positive, Kind::legal});
  case Domain::Kind::rotary:
    return is_one_of(kind, {Kind::zero, Kind::constant, Kind::rotary, Kind::rotary_split});
  }
  return false;
}

bool is_legal_value(const Domain& domain, DType storage, std::int64_t limit, std::uint64_t bits) {
  const double value = from_bits(storage, bits);
  switch (domain.kind) {
  case Domain::Kind::real:
    return domain.specials || std::isfinite(value);
  case Domain::Kind::quantizable:
    return std::isfinite(value);
  case Domain::Kind::target:
    if (value == -100) return true;
    [[fallthrough]];
  case Domain::Kind::index:
    return value >= 0 && value < static_cast<double>(limit);
  case Domain::Kind::boolean:
    return value == 0 || value == 1;
  case Domain::Kind::code:
    return storage == DType::u8 || value >= -127;
  case Domain::Kind::scale:
    return std::isfinite(value) && value >= format_of(storage).min_normal;
  case Domain::Kind::rotary:
    return std::isfinite(value);
  }
  return false;
}

std::string_view name_of(Domain::Kind kind) {
  switch (kind) {
  case Domain::Kind::real:
    return "real values";
  case Domain::Kind::index:
    return "indices";
  case Domain::Kind::target:
    return "class targets";
  case Domain::Kind::boolean:
    return "a mask";
  case Domain::Kind::code:
    return "integer codes";
  case Domain::Kind::scale:
    return "scales";
  case Domain::Kind::rotary:
    return "a rotary cache";
  case Domain::Kind::quantizable:
    return "quantizable values";
  }
  return "";
}

} // namespace assay
