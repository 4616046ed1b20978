// atom and red: lanes in ascending order, each a read-modify-write of its own.
#include "harness/base/check.h"
#include "harness/device/cpu/runtime/definedness.h"
#include "harness/device/cpu/runtime/half.h"
#include "harness/device/cpu/runtime/race.h"
#include "harness/device/cpu/runtime/read_only.h"
#include "harness/device/cpu/runtime/strong.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace assay::cpu {
namespace {

struct alignas(16) Bits128 {
  std::uint64_t low, high;
  bool operator==(const Bits128&) const = default;
};

constexpr std::uint32_t nan_f32 = 0x7fffffffu;

float flushed(float v) { return std::fabs(v) < 0x1p-126f ? std::copysign(0.0f, v) : v; }

// PTX atom.add.f32: subnormals are flushed in global memory and kept in shared memory.
std::uint32_t add_f32(std::uint32_t a, std::uint32_t b, bool shared) {
  float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
  if (!shared) x = flushed(x), y = flushed(y);
  const float sum = shared ? x + y : flushed(x + y);
  return sum == sum ? std::bit_cast<std::uint32_t>(sum) : nan_f32;
}

struct F16 {
  static double widen(std::uint16_t bits) { return static_cast<double>(f16_to_f32(bits)); }
  static std::uint16_t narrow(double v) { return f64_to_f16(v); }
};
struct BF16 {
  static double widen(std::uint16_t bits) { return static_cast<double>(bf16_to_f32(bits)); }
  static std::uint16_t narrow(double v) { return f64_to_bf16(v); }
};

// min and max as PTX has them: one NaN gives the other operand, two give NaN, -0 is below +0.
template <class Half> std::uint16_t combine_half(AtomicOp op, std::uint16_t a, std::uint16_t b) {
  const double x = Half::widen(a), y = Half::widen(b);
  if (op == AtomicOp::add) return Half::narrow(add_to_odd(x, y));
  if (x != x || y != y) return x == x ? a : y == y ? b : std::uint16_t{0x7fff};
  const bool a_below = x < y || (x == y && (a & 0x8000));
  return (op == AtomicOp::min) == a_below ? a : b;
}
template <class Half> std::uint32_t combine_pair(AtomicOp op, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t low =
      combine_half<Half>(op, static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
  const std::uint32_t high =
      combine_half<Half>(op, static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16));
  return low | high << 16;
}

// T unsigned; signed_order for min and max of s32, s64.
template <class T> T combine_integer(AtomicOp op, bool signed_order, T a, T b) {
  const T flip = signed_order ? static_cast<T>(T{1} << (sizeof(T) * 8 - 1)) : T{0};
  switch (op) {
  case AtomicOp::add:
    return static_cast<T>(a + b);
  case AtomicOp::exch:
    return b;
  case AtomicOp::and_:
    return a & b;
  case AtomicOp::or_:
    return a | b;
  case AtomicOp::xor_:
    return a ^ b;
  case AtomicOp::min:
    return (a ^ flip) < (b ^ flip) ? a : b;
  case AtomicOp::max:
    return (a ^ flip) > (b ^ flip) ? a : b;
  case AtomicOp::inc:
    return a >= b ? T{0} : static_cast<T>(a + 1);
  case AtomicOp::dec:
    return a == 0 || a > b ? b : static_cast<T>(a - 1);
  case AtomicOp::cas:
    break;
  }
  return a;
}

std::uint16_t combine(const AtomicAccess& access, bool, std::uint16_t a, std::uint16_t b) {
  if (access.op != AtomicOp::exch) {
    if (access.type == ValueType::f16) return combine_half<F16>(access.op, a, b);
    if (access.type == ValueType::bf16) return combine_half<BF16>(access.op, a, b);
  }
  return combine_integer(access.op, false, a, b);
}
std::uint32_t combine(const AtomicAccess& access, bool shared, std::uint32_t a, std::uint32_t b) {
  if (access.op == AtomicOp::exch) return b;
  switch (access.type) {
  case ValueType::f32:
    return add_f32(a, b, shared);
  case ValueType::f16x2:
    return combine_pair<F16>(access.op, a, b);
  case ValueType::bf16x2:
    return combine_pair<BF16>(access.op, a, b);
  default:
    return combine_integer(access.op, access.type == ValueType::s32, a, b);
  }
}
// A NaN operand is the result: in global memory as it is, b's before a's; in shared memory made quiet, a's
// first.
std::uint64_t add_f64(std::uint64_t a, std::uint64_t b, bool shared) {
  const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b), sum = x + y;
  constexpr std::uint64_t quiet = std::uint64_t{1} << 51;
  if (x != x || y != y) return shared ? (x != x ? a : b) | quiet : y != y ? b : a;
  return sum == sum ? std::bit_cast<std::uint64_t>(sum) : 0xfff8000000000000u;
}
std::uint64_t combine(const AtomicAccess& access, bool shared, std::uint64_t a, std::uint64_t b) {
  if (access.type == ValueType::f64 && access.op == AtomicOp::add) return add_f64(a, b, shared);
  return combine_integer(access.op, access.type == ValueType::s64, a, b);
}
Bits128 combine(const AtomicAccess&, bool, const Bits128&, const Bits128& b) { return b; } // exch

template <class T>
void run_atomic(WarpContext& context, std::uint32_t& lanes, const AtomicAccess& access,
                const std::uint64_t* addresses, const T* b, const T* c, T* old,
                std::uint32_t operand_undefined, std::uint32_t* undefined) {
  const Checked at = check_access<sizeof(T)>(context, lanes, access.access, Direction::atomic, addresses);
  Region& region = *at.region;
  if (region.read_only) [[unlikely]] {
    report_forbidden_store(context, access.access, region, static_cast<unsigned>(std::countr_zero(lanes)),
                           at.offset_of(static_cast<unsigned>(std::countr_zero(lanes)), sizeof(T)));
  }
  if (region.races && context.launch->races_checked())
    check_atomic_race<sizeof(T)>(context, lanes, access.access, at);
  const bool shared = region.kind == RegionKind::shared;
  bool changed = false;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::int64_t offset = at.offset_of(lane, sizeof(T));
    T before;
    std::memcpy(&before, region.data + offset, sizeof before);
    const T after = access.op == AtomicOp::cas ? (before == b[lane] ? c[lane] : before)
                                               : combine(access, shared, before, b[lane]);
    changed |= !(after == before);
    if (old) old[lane] = before;
    if (!region.read_only) std::memcpy(region.data + offset, &after, sizeof after);
    const bool from_operand = (operand_undefined >> lane) & 1;
    if (!region.undefined && from_operand) start_tracking(region);
    if (!region.undefined) continue;
    const bool was_undefined = any_in_element(region.undefined, static_cast<std::size_t>(offset), sizeof(T));
    if (was_undefined) {
      if (old) *undefined |= 1u << lane;
      remember_origin(context, access.access, region, offset);
    }
    const bool keeps_old = access.op != AtomicOp::exch;
    if (from_operand || (was_undefined && keeps_old))
      store_undefined(region, access.access, offset, sizeof(T));
    else
      clear_element(region.undefined, static_cast<std::size_t>(offset), sizeof(T));
  }
  strong_atomic(context, lanes, access.access, at, sizeof(T), changed);
}

template <class T>
void run_all(WarpContext& context, std::uint32_t lanes, const AtomicAccess& access,
             const std::uint64_t* addresses, const void* b, const void* c, void* old,
             std::uint32_t* undefined) {
  const unsigned vector = access.access.vector;
  if (vector > 1) { // one access as far as alignment goes
    for (std::uint32_t rest = lanes; rest; rest &= rest - 1)
      if (const auto lane = static_cast<unsigned>(std::countr_zero(rest));
          addresses[lane] % (vector * sizeof(T)))
        report_misaligned(context, access.access, Direction::atomic, lane, addresses[lane]);
  }
  for (unsigned v = 0; v < vector; ++v) {
    AtomicAccess one = access;
    one.access.vector = 1;
    std::uint64_t places[warp_lanes];
    for (unsigned i = 0; i < warp_lanes; ++i) places[i] = addresses[i] + v * sizeof(T);
    const std::uint32_t operand_undefined = undefined[v];
    undefined[v] = 0;
    for (std::uint32_t left = lanes; left;) {
      std::uint32_t part = left;
      const std::size_t row = std::size_t{v} * warp_lanes;
      run_atomic<T>(context, part, vector == 1 ? access : one, places, static_cast<const T*>(b) + row,
                    c ? static_cast<const T*>(c) + row : nullptr, old ? static_cast<T*>(old) + row : nullptr,
                    operand_undefined, &undefined[v]);
      left &= ~part;
    }
  }
}

} // namespace

void assay_atomic(Warp* warp, std::uint32_t lanes, const AtomicAccess* access, const std::uint64_t* addresses,
                  const void* b, const void* c, void* old, std::uint32_t* undefined) {
  WarpContext& context = context_of(warp);
  may_give_way(context, lanes, access->access, addresses);
  context.earlier.forget();
  switch (access->access.element_bytes) {
  case 2:
    return run_all<std::uint16_t>(context, lanes, *access, addresses, b, c, old, undefined);
  case 4:
    return run_all<std::uint32_t>(context, lanes, *access, addresses, b, c, old, undefined);
  case 8:
    return run_all<std::uint64_t>(context, lanes, *access, addresses, b, c, old, undefined);
  case 16:
    return run_all<Bits128>(context, lanes, *access, addresses, b, c, old, undefined);
  default:
    ASSAY_CHECK(false, "an atomic of {} bytes", unsigned{access->access.element_bytes});
  }
}

} // namespace assay::cpu
