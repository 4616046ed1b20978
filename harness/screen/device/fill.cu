// Makes the inputs of many cases on the GPU. One block row (blockIdx.x) a slot, blockIdx.y parts of it; slot
// `cases` + k is the twin of case k: the same inputs in the second world. In this order: assay_clear,
// assay_fill, assay_settle.
#include "harness/screen/device/normal_filter.h"
#include "harness/screen/device/slot_blocks.h"

namespace assay::fill {

__device__ inline std::uint32_t case_of_slot(std::uint32_t cases) {
  return blockIdx.x < cases ? blockIdx.x : blockIdx.x - cases;
}

// The pattern's bytes in [begin, end).
__device__ inline void paint(unsigned char* slot, std::uint64_t begin, std::uint64_t end,
                             std::uint16_t pattern, const Part& part) {
  const std::uint32_t word = twice(pattern);
  each_block(begin, end, part, [&](std::uint64_t at) {
    if (is_whole(at, begin, end)) {
      *reinterpret_cast<uint4*>(slot + at) = {word, word, word, word};
      return;
    }
#pragma unroll 1
    for (std::uint64_t byte = at < begin ? begin : at; byte < at + block_bytes && byte < end; ++byte)
      slot[byte] = static_cast<unsigned char>(byte & 1 ? pattern >> 8 : pattern);
  });
}

// A line in which every fourth element or so depends on the sum of those before it. A warp a line: its lanes
// draw 32 elements at once, and each follows the sum through all of them.
__device__ inline void cancelling_sum(const FillTensor& tensor, std::uint64_t seed, double stddev,
                                      std::int64_t line, unsigned char* slot) {
  constexpr unsigned all = 0xffffffff;
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const StorageRule& type = tensor.storage;
  const double limit = type.largest;
  const bool rounds = type.precision < 53;
  const auto rounded = [&](double value) { return rounds ? rounded_in_range(type, value) : value; };
  double sum = 0;
  for (std::int64_t first = 0; first < tensor.line_length; first += 32) {
    const std::int64_t index = line * tensor.line_length + first + lane;
    const std::int64_t left = tensor.line_length - first;
    const int count = left < 32 ? static_cast<int>(left) : 32;
    const auto counter = static_cast<std::uint64_t>(index);
    const double drawn = stddev * element::normal(element_word(seed, counter));
    const bool cancels = (philox(seed, counter, second_stream).word[0] & 3) == 0;
    const unsigned cancelling = __ballot_sync(all, cancels);
    double own = clamped(drawn, limit);
    const double known = cancels ? drawn * 0x1p-10 : rounded(own); // before the sum is
#pragma unroll 4
    for (int k = 0; k < count; ++k) {
      double next = __shfl_sync(all, known, k);
      if ((cancelling >> k & 1) != 0) {
        const double value = clamped(next - sum, limit);
        if (k == lane) own = value;
        next = rounded(value);
      }
      sum += next;
    }
    if (lane < count)
      put(slot + place_of(tensor, index), type.bytes, stored(DistributionKind::cancelling_sum, tensor, own));
  }
}

// Of a warp's words those in the tails of the normal distribution: of 128 some 19, so nearly every word has a
// neighbour there for which its lane would wait.
struct Tails {
  std::uint32_t word[128];
  double z[128];
};

// The normal variates of four words a lane, as element::normal has them; the whole warp.
__device__ inline void normals(const PhiloxBlock& words, double (&z)[4], Tails& tails) {
  constexpr unsigned all = 0xffffffff;
  const unsigned lane = threadIdx.x % 32;
  unsigned count = 0, place[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const bool is_there = element::in_tail(words.word[k]);
    const unsigned there = __ballot_sync(all, is_there);
    place[k] = count + __popc(there & ((1u << lane) - 1));
    if (is_there) tails.word[place[k]] = words.word[k];
    count += __popc(there);
  }
  __syncwarp();
#pragma unroll 1
  for (unsigned i = lane; i < count; i += 32) tails.z[i] = element::normal_tail(tails.word[i]);
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const double centre = element::normal_centre(words.word[k]), tail = tails.z[place[k]];
    z[k] = element::in_tail(words.word[k]) ? tail : centre;
  }
  __syncwarp();
}

// f(quad, which elements of it are drawn from that distribution of an input): of each quad of the thread's,
// by whole warps. A warp passes over quads that have nothing of it.
template <class F>
__device__ inline void each_quad(const FillTensor& tensor, const FillInput& input, int number,
                                 const Part& part, F&& f) {
  const auto quads = static_cast<std::uint32_t>((tensor.count + 31) / 32 * 8);
  const auto step = static_cast<std::uint32_t>(part.step);
  for (auto block = static_cast<std::uint32_t>(part.first); block / 32 * 32 < quads; block += step) {
    const bool patched = input.patches != 0;
    Quad quad;
    quad.seed = input.seed;
    quad.block = block;
    quad.line_length = static_cast<std::uint32_t>(tensor.line_length);
    bool mine[4], is_line = true;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (patched && (k == 0 || quad.line(k) != quad.line(k - 1)))
        is_line = number_of_line(input, quad.line(k)) == number;
      mine[k] = is_line && quad.index(k) < static_cast<std::uint32_t>(tensor.count);
    }
    if (patched && !__any_sync(0xffffffff, mine[0] || mine[1] || mine[2] || mine[3])) continue;
    f(quad, mine);
  }
}

// Those of a quad's elements that are `mine`.
__device__ inline void draw(const FillDistribution& distribution, const FillTensor& tensor, const Quad& quad,
                            const bool (&mine)[4], unsigned char* slot) {
  double value[4];
  raw_values(distribution, tensor, quad, value);
  const DomainRule& domain = tensor.domain;
  const StorageRule& type = tensor.storage;
  const double limit = limit_of(distribution.kind, type);
  if (is_mapped(distribution.kind, domain.kind))
#pragma unroll
    for (double& one : value) one = map_into_domain(domain, type.min_normal, one);
#pragma unroll
  for (double& one : value) one = clamped(one, limit);
  switch (narrowing_of(type)) {
  case Narrowing::f32:
    return narrow_quad<Narrowing::f32>(tensor, quad, mine, value, slot);
  case Narrowing::f16:
    return narrow_quad<Narrowing::f16>(tensor, quad, mine, value, slot);
  case Narrowing::bf16:
    return narrow_quad<Narrowing::bf16>(tensor, quad, mine, value, slot);
  default:
    return narrow_quad<Narrowing::other>(tensor, quad, mine, value, slot);
  }
}

// Likewise, where has_filter.
template <Narrowing way>
__device__ inline void draw_filtered(const Scaling& scaling, const FillTensor& tensor, const Quad& quad,
                                     const bool (&mine)[4], unsigned char* slot) {
  const RoundedRanges ranges = ranges_of<way>(scaling, quad.words);
  constexpr int bytes = 2;
  const std::uint32_t bits[4] = {ranges.bits(0), ranges.bits(1), ranges.bits(2), ranges.bits(3)};
  put_quad(tensor, quad, mine, bits, bytes, slot);
  if (ranges.all_agree() && have_quick_normals(quad.words)) return;
  unsigned open = 0; // elements, as bits
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (mine[k] && !(ranges.agree(k) && has_quick_normal(quad.words.word[k]))) open |= 1u << k;
  for (; open != 0; open &= open - 1) {
    const std::uint32_t index = quad.index(__ffs(open) - 1);
    const double value = scaling.offset + scaling.scale * element::normal(element_word(quad.seed, index));
    put(slot + place_of(tensor, index), bytes, narrowed<way>(tensor.storage, value));
  }
}

// What one distribution of an input fills, where has_filter.
template <Narrowing way>
__device__ inline void filtered_elements(const FillTensor& tensor, const FillInput& input, int number,
                                         unsigned char* slot, const Part& part) {
  const Scaling scaling = scaling_of(distribution_of(input, number));
  each_quad(tensor, input, number, part, [&](Quad& quad, const bool (&mine)[4]) {
    quad.words = philox(quad.seed, quad.block, element_stream);
    draw_filtered<way>(scaling, tensor, quad, mine, slot);
  });
}

// What one distribution of an input fills, but for cancelling_sum.
__device__ inline void elements(const FillTensor& tensor, const FillInput& input, int number,
                                unsigned char* slot, const Part& part) {
  __shared__ Tails tails[most_fill_threads / 32];
  const FillDistribution& distribution = distribution_of(input, number);
  const DistributionKind kind = distribution.kind;
  if (kind == DistributionKind::cancelling_sum) return;
  if (has_filter(distribution, tensor))
    return narrowing_of(tensor.storage) == Narrowing::f16
               ? filtered_elements<Narrowing::f16>(tensor, input, number, slot, part)
               : filtered_elements<Narrowing::bf16>(tensor, input, number, slot, part);
  each_quad(tensor, input, number, part, [&](Quad& quad, const bool (&mine)[4]) {
    if (draws_word(kind)) quad.words = philox(quad.seed, quad.block, element_stream);
    if (draws_normal(kind)) normals(quad.words, quad.z, tails[threadIdx.x / 32]);
    draw(distribution, tensor, quad, mine, slot);
  });
}

// The lines of all tensors, dealt out to the warps of the slot.
__device__ inline void cancelling_sums(const FillPlan& plan, const FillInput* inputs, unsigned char* slot,
                                       const Part& part) {
  const auto is_it = [](DistributionKind kind) { return kind == DistributionKind::cancelling_sum; };
  std::int64_t line = part.first / 32;
  for (int t = 0; t < plan.tensors; ++t) {
    const FillTensor& tensor = plan.tensor[t];
    const FillInput& input = inputs[t];
    if (!any_kind(input, is_it)) continue;
    for (; line < tensor.lines; line += part.step / 32)
      if (const FillDistribution& distribution = of_line(input, line); is_it(distribution.kind))
        cancelling_sum(tensor, input.seed, distribution.p[0], line, slot);
    line -= tensor.lines;
  }
}

// Of a float of at most 32 bits: ordered as the numbers are, -0 below +0.
__device__ inline std::uint32_t sort_key(const StorageRule& type, std::uint64_t bits) {
  const auto sign = static_cast<std::uint32_t>(1) << (8 * type.bytes - 1);
  const auto word = static_cast<std::uint32_t>(bits);
  return word & sign ? ~word & (sign | (sign - 1)) : word | sign;
}
__device__ inline std::uint64_t from_sort_key(const StorageRule& type, std::uint32_t key) {
  const auto sign = static_cast<std::uint32_t>(1) << (8 * type.bytes - 1);
  return key & sign ? key ^ sign : ~key & (sign | (sign - 1));
}

// Keys in shared memory, with one place left free after each 32, so that neither neighbours nor every eighth
// meet in one bank. What lies beyond the last is larger than all.
struct Keys {
  std::uint32_t* keys;
  std::uint32_t count;

  __device__ std::uint32_t& at(std::uint32_t i) const { return keys[i + (i >> 5)]; }
  __device__ std::uint32_t get(std::uint32_t i) const { return i < count ? at(i) : 0xffffffff; }
  __device__ void put(std::uint32_t i, std::uint32_t key) const {
    if (i < count) at(i) = key;
  }
};

__device__ inline void exchange(std::uint32_t& low, std::uint32_t& high) {
  const std::uint32_t least = low < high ? low : high;
  high = low < high ? high : low;
  low = least;
}

// Of a bitonic sort, every comparison upwards, `levels` steps at once, whose smallest gap is 1 << shift: each
// thread takes the 1 << levels keys that these steps compare with each other. mirrored: they are the first
// ones of a merge, where a block's second half is met from its end.
template <int levels, bool mirrored>
__device__ inline void merge_steps(const Keys& keys, int shift, std::uint32_t groups) {
  constexpr std::uint32_t size = 1u << levels, half = size / 2;
  const std::uint32_t below = (1u << shift) - 1;
  for (std::uint32_t group = threadIdx.x; group < groups; group += blockDim.x) {
    const std::uint32_t first = ((group & ~below) << levels) + (group & below);
    if (first >= keys.count) continue; // then all of them are beyond the last
    const std::uint32_t mirror = ((group & ~below) << levels) + (size << shift) - 1 - (group & below);
    const auto place = [&](std::uint32_t k) {
      return mirrored && k >= half ? mirror - ((k - half) << shift) : first + (k << shift);
    };
    std::uint32_t key[size];
#pragma unroll
    for (std::uint32_t k = 0; k < size; ++k) key[k] = keys.get(place(k));
#pragma unroll
    for (std::uint32_t gap = half; gap > 0; gap /= 2)
#pragma unroll
      for (std::uint32_t k = 0; k < size; ++k) {
        if ((k & gap) != 0) continue;
        if (mirrored && k >= half)
          exchange(key[k + gap], key[k]); // the second half, from its end
        else
          exchange(key[k], key[k + gap]);
      }
#pragma unroll
    for (std::uint32_t k = 0; k < size; ++k) keys.put(place(k), key[k]);
  }
  __syncthreads();
}
template <bool mirrored>
__device__ inline void merge_steps(int levels, const Keys& keys, int shift, std::uint32_t padded) {
  if (levels == 1) merge_steps<1, mirrored>(keys, shift, padded >> 1);
  if (levels == 2) merge_steps<2, mirrored>(keys, shift, padded >> 2);
  if (levels == 3) merge_steps<3, mirrored>(keys, shift, padded >> 3);
}

// Batcher's bitonic sort, three steps between two barriers.
__device__ inline void sort_shared(const Keys& keys) {
  int bits = 0;
  while ((1u << bits) < keys.count) ++bits;
  for (int merge = 1; merge <= bits; ++merge) {
    int left = merge, levels = left < 3 ? left : 3;
    merge_steps<true>(levels, keys, left -= levels, 1u << bits);
    for (; left > 0; left -= levels) {
      levels = left < 3 ? left : 3;
      merge_steps<false>(levels, keys, left - levels, 1u << bits);
    }
  }
}

__device__ inline void sort_line(const FillTensor& tensor, std::int64_t line, bool descending,
                                 unsigned char* slot, std::uint32_t* memory) {
  const auto count = static_cast<std::uint32_t>(tensor.line_length);
  const Keys keys{memory, count};
  const std::int64_t first = line * tensor.line_length;
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x)
    keys.at(i) = sort_key(tensor.storage, get(slot + place_of(tensor, first + i), tensor.storage.bytes));
  __syncthreads();
  sort_shared(keys);
  for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x)
    put(slot + place_of(tensor, first + i), tensor.storage.bytes,
        from_sort_key(tensor.storage, keys.at(descending ? count - 1 - i : i)));
  __syncthreads();
}

// A row whose scale max|x| / 127 would be below 2^-126 becomes zero; a warp a line.
__device__ inline void make_quantizable(const FillTensor& tensor, std::int64_t line, unsigned char* slot) {
  const std::int64_t first = line * tensor.line_length;
  const auto lane = static_cast<std::int64_t>(threadIdx.x % 32);
  bool large = false;
  for (std::int64_t i = lane; i < tensor.line_length; i += 32)
    large = large || std::fabs(storage_value(tensor.storage, get(slot + place_of(tensor, first + i),
                                                                 tensor.storage.bytes))) >= 0x1p-119;
  if (__any_sync(0xffffffff, large)) return;
  for (std::int64_t i = lane; i < tensor.line_length; i += 32)
    put(slot + place_of(tensor, first + i), tensor.storage.bytes, 0);
}

} // namespace assay::fill

using namespace assay;

// Bands, poison and zeros; the record starts anew.
extern "C" __global__ void assay_clear(const FillPlan* plan, unsigned char* slots, std::uint64_t slot_bytes,
                                       std::uint32_t cases, MemoryRecord* records) {
  unsigned char* slot = slots + blockIdx.x * slot_bytes;
  const fill::Part part = fill::part_of_slot();
  if (part.first == 0) records[blockIdx.x] = MemoryRecord{};
  for (int i = 0; i < plan->regions; ++i) {
    const FillRegion& region = plan->region[i];
    if (region.kind == FillRegion::Kind::input && !region.gaps) continue;
    const std::uint16_t pattern =
        region.kind == FillRegion::Kind::zero ? 0 : region.pattern[blockIdx.x < cases ? 0 : 1];
    fill::paint(slot, region.begin, region.end, pattern, part);
  }
}

// Three blocks fill a multiprocessor with 24 warps.
extern "C" __global__ void __launch_bounds__(most_fill_threads, 3)
    assay_fill(const FillPlan* plan, const FillInput* given, unsigned char* slots, std::uint64_t slot_bytes,
               std::uint32_t cases) {
  unsigned char* slot = slots + blockIdx.x * slot_bytes;
  const FillInput* inputs = given + fill::case_of_slot(cases) * plan->tensors;
  const fill::Part part = fill::part_of_slot();
  for (int t = 0; t < plan->tensors; ++t)
    for (int number = 0; number <= inputs[t].patches; ++number)
      fill::elements(plan->tensor[t], inputs[t], number, slot, part);
  fill::cancelling_sums(*plan, inputs, slot, part);
}

// What needs whole lines, or comes last: sorting, single elements, rows too small to quantize. Dynamic shared
// memory where kinds are sorted: sort_bytes (fill_layout.h) of the longest line.
extern "C" __global__ void assay_settle(const FillPlan* plan, const FillInput* given, unsigned char* slots,
                                        std::uint64_t slot_bytes, std::uint32_t cases) {
  extern __shared__ std::uint32_t keys[];
  unsigned char* slot = slots + blockIdx.x * slot_bytes;
  const FillInput* inputs = given + fill::case_of_slot(cases) * plan->tensors;
  for (int t = 0; t < plan->tensors; ++t) {
    const FillTensor& tensor = plan->tensor[t];
    const FillInput& input = inputs[t];
    const bool sorts = fill::any_kind(input, fill::is_sorted);
    for (std::int64_t line = blockIdx.y; sorts && line < tensor.lines; line += gridDim.y) {
      const DistributionKind kind = fill::of_line(input, line).kind;
      if (fill::is_sorted(kind))
        fill::sort_line(tensor, line, kind == DistributionKind::sorted_descending, slot, keys);
    }
    for (int i = 0; i < input.overrides && threadIdx.x == 0; ++i) {
      const FillOverride& one = input.one[i];
      if (one.index / tensor.line_length % gridDim.y == blockIdx.y)
        fill::put(slot + fill::place_of(tensor, one.index), tensor.storage.bytes, one.bits);
    }
    if (tensor.domain.kind != DomainKind::quantizable) continue;
    __syncthreads();
    const std::int64_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (std::int64_t line = blockIdx.y + warp * gridDim.y; line < tensor.lines; line += warps * gridDim.y)
      fill::make_quantizable(tensor, line, slot);
  }
}
