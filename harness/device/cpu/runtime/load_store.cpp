// Loads and stores: one template instance for each element size and vector length.
#include "harness/base/check.h"
#include "harness/device/cpu/runtime/access.h"
#include "harness/device/cpu/runtime/definedness.h"
#include "harness/device/cpu/runtime/race.h"
#include "harness/device/cpu/runtime/read_only.h"
#include "harness/device/cpu/runtime/strong.h"

#include <cstring>
#include <type_traits>

namespace assay::cpu {
namespace {

struct alignas(16) Bytes16 {
  std::uint64_t words[2];
};
template <unsigned Bytes>
using Element = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t,
                                          std::conditional_t<Bytes == 8, std::uint64_t, Bytes16>>>>;

template <class T> T read_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <unsigned Bytes, unsigned Vector>
void read_values(std::uint32_t lanes, const Checked& at, Element<Bytes>* values) {
  using T = Element<Bytes>;
  constexpr unsigned size = Bytes * Vector;
  const std::byte* data = at.region->data;
  if (at.pattern == Pattern::consecutive && lanes == ~0u) {
    const std::byte* from = data + at.base;
    if constexpr (Vector == 1) {
      std::memcpy(values, from, std::size_t{size} * warp_lanes);
    } else {
      T packed[warp_lanes * Vector];
      std::memcpy(packed, from, sizeof packed);
      for (unsigned v = 0; v < Vector; ++v)
        for (unsigned lane = 0; lane < warp_lanes; ++lane)
          values[v * warp_lanes + lane] = packed[lane * Vector + v];
    }
  } else if (at.pattern == Pattern::uniform && lanes == ~0u && !at.lane_stride) {
    for (unsigned v = 0; v < Vector; ++v) {
      const T value = read_at<T>(data + at.base + v * Bytes);
      for (unsigned lane = 0; lane < warp_lanes; ++lane) values[v * warp_lanes + lane] = value;
    }
  } else if (at.pattern == Pattern::octets && Vector == 1) {
    for (unsigned octet = 0; octet < octet_count; ++octet) {
      const unsigned first = octet * octet_lanes;
      const std::byte* from = data + at.offset_of(first, size);
      if (!at.one_place(octet)) {
        std::memcpy(values + first, from, std::size_t{size} * octet_lanes);
        continue;
      }
      const T value = read_at<T>(from);
      for (unsigned lane = 0; lane < octet_lanes; ++lane) values[first + lane] = value;
    }
  } else if (lanes == ~0u && !at.lane_stride) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      for (unsigned v = 0; v < Vector; ++v)
        values[v * warp_lanes + lane] = read_at<T>(data + (at.addresses[lane] - at.origin) + v * Bytes);
  } else {
    for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const std::byte* from = data + at.offset_of(lane, size);
      for (unsigned v = 0; v < Vector; ++v) values[v * warp_lanes + lane] = read_at<T>(from + v * Bytes);
    }
  }
}

template <unsigned Bytes, unsigned Vector>
void write_values(std::uint32_t lanes, const Checked& at, const Element<Bytes>* values) {
  constexpr unsigned size = Bytes * Vector;
  std::byte* data = at.region->data;
  if (at.pattern == Pattern::consecutive && lanes == ~0u) {
    std::byte* to = data + at.base;
    if constexpr (Vector == 1) {
      std::memcpy(to, values, std::size_t{size} * warp_lanes);
    } else {
      Element<Bytes> packed[warp_lanes * Vector];
      for (unsigned v = 0; v < Vector; ++v)
        for (unsigned lane = 0; lane < warp_lanes; ++lane)
          packed[lane * Vector + v] = values[v * warp_lanes + lane];
      std::memcpy(to, packed, sizeof packed);
    }
  } else {
    for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      std::byte* to = data + at.offset_of(lane, size);
      for (unsigned v = 0; v < Vector; ++v)
        std::memcpy(to + v * Bytes, &values[v * warp_lanes + lane], Bytes);
    }
  }
}

bool lanes_drift(const WarpContext& context, const Access& access, const Region& region) {
  return context.launch->interleaving.lanes_apart && region.races && context.launch->races_checked() &&
         (access.ordering == volatile_access || access.ordering == relaxed);
}

template <unsigned Bytes, unsigned Vector>
void load_lanes(WarpContext& context, std::uint32_t lanes, const Access& access, const Checked& at,
                Element<Bytes>* values, std::uint32_t* undefined) {
  const Region& region = *at.region;
  if (access.ordering != weak) [[unlikely]]
    strong_load(context, lanes, access, at, Bytes * Vector);
  if (region.races && context.launch->races_checked())
    check_load_race<Bytes * Vector>(context, lanes, access, at);
  read_values<Bytes, Vector>(lanes, at, values);
  if (access.ordering != weak && lanes_drift(context, access, region)) [[unlikely]]
    context.earlier.load(context, lanes, at, Bytes * Vector, Bytes, reinterpret_cast<std::byte*>(values));
  if (region.undefined) [[unlikely]]
    find_undefined<Bytes, Vector>(context, lanes, access, at, undefined);
}

template <unsigned Bytes, unsigned Vector>
void store_lanes(WarpContext& context, std::uint32_t lanes, const Access& access, const Checked& at,
                 const Element<Bytes>* values, const std::uint32_t* undefined) {
  constexpr unsigned size = Bytes * Vector;
  const auto bytes_of = [&](unsigned lane, std::byte* bytes) {
    for (unsigned v = 0; v < Vector; ++v)
      std::memcpy(bytes + v * Bytes, &values[v * warp_lanes + lane], Bytes);
  };
  if (at.region->read_only) [[unlikely]] {
    refuse_store(context, lanes, access, at, bytes_of);
    return;
  }
  if (access.ordering != weak) [[unlikely]]
    strong_store(context, lanes, access, at, size);
  if (at.region->races && context.launch->races_checked())
    check_store_race<size>(context, lanes, access, at, bytes_of);
  if (access.ordering != weak && lanes_drift(context, access, *at.region)) [[unlikely]]
    context.earlier.store(context, lanes, at, size);
  mark_defined<Bytes, Vector>(context, lanes, access, at, values, undefined);
  write_values<Bytes, Vector>(lanes, at, values);
}

// Calls f<Bytes, Vector>() for the access's shape.
template <class F> void for_shape(const Access& access, F&& f) {
  switch (access.element_bytes * 16 + access.vector) {
#define ASSAY_SHAPE(bytes, vector)                                                                           \
  case bytes * 16 + vector:                                                                                  \
    return f.template operator()<bytes, vector>()
    ASSAY_SHAPE(1, 1);
    ASSAY_SHAPE(1, 2);
    ASSAY_SHAPE(1, 4);
    ASSAY_SHAPE(1, 8);
    ASSAY_SHAPE(2, 1);
    ASSAY_SHAPE(2, 2);
    ASSAY_SHAPE(2, 4);
    ASSAY_SHAPE(2, 8);
    ASSAY_SHAPE(4, 1);
    ASSAY_SHAPE(4, 2);
    ASSAY_SHAPE(4, 4);
    ASSAY_SHAPE(4, 8);
    ASSAY_SHAPE(8, 1);
    ASSAY_SHAPE(8, 2);
    ASSAY_SHAPE(8, 4);
    ASSAY_SHAPE(16, 1);
    ASSAY_SHAPE(16, 2);
#undef ASSAY_SHAPE
  default:
    ASSAY_CHECK(false, "an access of {} x {} bytes", unsigned{access.vector}, unsigned{access.element_bytes});
  }
}

// Where `bytes` from `base` on lie in one region or piece, aligned for the access: their offset there; else a
// negative one.
std::int64_t row_offset(WarpContext& context, const Access& access, std::uint64_t base, unsigned bytes,
                        Region*& region) {
  const Target target = target_of(context, access.space, base);
  region = target.region;
  const auto offset = static_cast<std::int64_t>(base - target.origin);
  const bool reaches = region->inside(offset, offset + bytes) || region->enter_piece(offset, offset + bytes);
  const unsigned size = unsigned{access.element_bytes} * access.vector;
  return reaches && base % size == 0 && region->kind != RegionKind::local ? offset : -1;
}

void add_offset(std::uint64_t (&addresses)[warp_lanes], const AddressShape& shape, std::uint64_t offset) {
  for (unsigned i = 0; i < warp_lanes; ++i) {
    const std::uint64_t sum = shape.addresses[i] + offset;
    addresses[i] = shape.address_bits == 32 ? static_cast<std::uint32_t>(sum) : sum;
  }
}

void spread(std::uint64_t (&addresses)[warp_lanes], std::uint64_t base, const Access& access) {
  const unsigned size = unsigned{access.element_bytes} * access.vector;
  for (unsigned i = 0; i < warp_lanes; ++i) addresses[i] = base + std::uint64_t{i} * size;
}

} // namespace

// What a load of an input needs, and no more; all else goes the long way.
void assay_load_row(Warp* warp, const Access* access, std::uint64_t base, void* values,
                    std::uint32_t* undefined) {
  WarpContext& context = context_of(warp);
  Region* region = nullptr;
  const unsigned bytes = warp_lanes * access->element_bytes;
  const std::int64_t offset = access->vector == 1 ? row_offset(context, *access, base, bytes, region) : -1;
  if (offset >= 0 && access->ordering == weak && !region->undefined &&
      !(region->races && context.launch->races_checked())) {
    std::memcpy(values, region->data + offset, bytes);
    undefined[0] = 0;
    return;
  }
  std::uint64_t addresses[warp_lanes];
  spread(addresses, base, *access);
  assay_load(warp, ~0u, access, addresses, values, undefined);
}

void assay_store_row(Warp* warp, const Access* access, std::uint64_t base, const void* values,
                     const std::uint32_t* undefined) {
  WarpContext& context = context_of(warp);
  Region* region = nullptr;
  const unsigned bytes = warp_lanes * access->element_bytes;
  const std::int64_t offset = access->vector == 1 ? row_offset(context, *access, base, bytes, region) : -1;
  if (offset >= 0 && access->ordering == weak && !region->read_only && undefined[0] == 0 &&
      !(region->races && context.launch->races_checked())) {
    if (region->undefined) clear_range(region->undefined, static_cast<std::size_t>(offset), bytes);
    std::memcpy(region->data + offset, values, bytes);
    return;
  }
  std::uint64_t addresses[warp_lanes];
  spread(addresses, base, *access);
  assay_store(warp, ~0u, access, addresses, values, undefined);
}

void assay_load(Warp* warp, std::uint32_t lanes, const Access* access, const std::uint64_t* addresses,
                void* values, std::uint32_t* undefined) {
  WarpContext& context = context_of(warp);
  if (access->ordering != weak) [[unlikely]]
    may_give_way(context, lanes, *access, addresses);
  for_shape(*access, [&]<unsigned Bytes, unsigned Vector>() {
    for (unsigned v = 0; v < Vector; ++v) undefined[v] = 0;
    while (lanes) {
      std::uint32_t part = lanes;
      const Checked at = check_access<Bytes * Vector>(context, part, *access, Direction::load, addresses);
      load_lanes<Bytes, Vector>(context, part, *access, at, static_cast<Element<Bytes>*>(values), undefined);
      lanes &= ~part;
    }
  });
}

void assay_store(Warp* warp, std::uint32_t lanes, const Access* access, const std::uint64_t* addresses,
                 const void* values, const std::uint32_t* undefined) {
  WarpContext& context = context_of(warp);
  if (access->ordering != weak) [[unlikely]]
    may_give_way(context, lanes, *access, addresses);
  for_shape(*access, [&]<unsigned Bytes, unsigned Vector>() {
    while (lanes) {
      std::uint32_t part = lanes;
      const Checked at = check_access<Bytes * Vector>(context, part, *access, Direction::store, addresses);
      store_lanes<Bytes, Vector>(context, part, *access, at, static_cast<const Element<Bytes>*>(values),
                                 undefined);
      lanes &= ~part;
    }
  });
}

void assay_load_shaped(Warp* warp, const Access* access, const AddressShape* shape, std::uint64_t offset,
                       void* values, std::uint32_t* undefined) {
  WarpContext& context = context_of(warp);
  Checked at;
  if (shape->lanes != 0 && reaches(context, *access, *shape, offset, at)) [[likely]]
    return for_shape(*access, [&]<unsigned Bytes, unsigned Vector>() {
      for (unsigned v = 0; v < Vector; ++v) undefined[v] = 0;
      load_lanes<Bytes, Vector>(context, shape->lanes, *access, at, static_cast<Element<Bytes>*>(values),
                                undefined);
    });
  std::uint64_t addresses[warp_lanes];
  add_offset(addresses, *shape, offset);
  assay_load(warp, shape->lanes, access, addresses, values, undefined);
}

void assay_store_shaped(Warp* warp, const Access* access, const AddressShape* shape, std::uint64_t offset,
                        const void* values, const std::uint32_t* undefined) {
  WarpContext& context = context_of(warp);
  Checked at;
  if (shape->lanes != 0 && reaches(context, *access, *shape, offset, at)) [[likely]]
    return for_shape(*access, [&]<unsigned Bytes, unsigned Vector>() {
      store_lanes<Bytes, Vector>(context, shape->lanes, *access, at,
                                 static_cast<const Element<Bytes>*>(values), undefined);
    });
  std::uint64_t addresses[warp_lanes];
  add_offset(addresses, *shape, offset);
  assay_store(warp, shape->lanes, access, addresses, values, undefined);
}

} // namespace assay::cpu
