// The legal orders in which n items become one (method: section 7). first(i)
// begins a partial result with item i, add(partial, i) appends one, merge(left,
// right) joins two partials. n >= 1.
#pragma once

#include "harness/ops/op.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace assay {

template <class First, class Add>
auto reduce_run(std::int64_t begin, std::int64_t end, std::int64_t step, const First& first, const Add& add) {
  auto partial = first(begin);
  for (std::int64_t i = begin + step; i < end; i += step) add(partial, i);
  return partial;
}

template <class First, class Add, class Merge>
auto reduce_pairwise(std::int64_t begin, std::int64_t end, const First& first, const Add& add,
                     const Merge& merge) -> decltype(first(begin)) {
  if (end - begin <= 2) return reduce_run(begin, end, 1, first, add);
  const std::int64_t middle = begin + (end - begin + 1) / 2;
  auto left = reduce_pairwise(begin, middle, first, add, merge);
  merge(left, reduce_pairwise(middle, end, first, add, merge));
  return left;
}

// A block of `width` threads: thread t takes items t, t + width, ...; then
// partials half the block apart are joined until one is left.
template <class First, class Add, class Merge>
auto reduce_strided(std::int64_t n, std::int64_t width, const First& first, const Add& add,
                    const Merge& merge) {
  std::vector<decltype(first(n))> partials;
  std::int64_t live = std::min(std::max<std::int64_t>(width, 1), n);
  partials.reserve(static_cast<std::size_t>(live));
  for (std::int64_t t = 0; t < live; ++t) partials.push_back(reduce_run(t, n, live, first, add));
  while (live > 1) {
    const std::int64_t half = (live + 1) / 2;
    for (std::int64_t t = 0; t + half < live; ++t)
      merge(partials[static_cast<std::size_t>(t)], partials[static_cast<std::size_t>(t + half)]);
    live = half;
  }
  return partials.front();
}

// One after the other as `choice` has it, as atomics may: 2, the last first; a larger one, place i is item
// (a i + b) mod n with a and b drawn from it.
template <class First, class Add>
auto reduce_permuted(std::int64_t n, std::int64_t choice, const First& first, const Add& add) {
  const std::uint64_t drawn = static_cast<std::uint64_t>(choice) * 0x9E3779B97F4A7C15u;
  std::int64_t a = 1 + static_cast<std::int64_t>((drawn >> 40) % static_cast<std::uint64_t>(n));
  std::int64_t at = static_cast<std::int64_t>((drawn >> 8 & 0xffffffff) % static_cast<std::uint64_t>(n));
  while (std::gcd(a, n) != 1) ++a;
  if (choice == 2) a = n - 1, at = n - 1;
  auto partial = first(at);
  for (std::int64_t i = 1; i < n; ++i) add(partial, at = (at + a) % n);
  return partial;
}

template <class First, class Add, class Merge>
auto reduce(Order order, std::int64_t width, std::int64_t n, const First& first, const Add& add,
            const Merge& merge) {
  switch (order) {
  case Order::pairwise:
    return reduce_pairwise(0, n, first, add, merge);
  case Order::strided:
    return reduce_strided(n, width, first, add, merge);
  case Order::blocked: {
    const std::int64_t step = std::max<std::int64_t>(width, 1);
    auto total = reduce_run(0, std::min(step, n), 1, first, add);
    for (std::int64_t begin = step; begin < n; begin += step)
      merge(total, reduce_run(begin, std::min(begin + step, n), 1, first, add));
    return total;
  }
  case Order::sequential:
    if (width > 1) return reduce_permuted(n, width, first, add);
    break;
  }
  return reduce_run(0, n, 1, first, add);
}

} // namespace assay
