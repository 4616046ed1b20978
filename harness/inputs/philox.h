// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011), written
// so that a block of eight counters vectorises and that NVRTC takes the same header; tests/inputs checks it
// against Random123.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define ASSAY_ANYWHERE __host__ __device__ inline
#else
#define ASSAY_ANYWHERE inline
#endif

namespace assay {

struct PhiloxBlock {
  std::uint32_t word[4];
};

ASSAY_ANYWHERE std::uint64_t philox_product(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__ // NVRTC makes a product of 64-bit numbers of it
  std::uint64_t product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return std::uint64_t{a} * b;
#endif
}

ASSAY_ANYWHERE PhiloxBlock philox(std::uint64_t key, std::uint64_t counter, std::uint32_t stream) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  std::uint32_t c0 = static_cast<std::uint32_t>(counter), c1 = static_cast<std::uint32_t>(counter >> 32),
                c2 = stream, c3 = 0;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = philox_product(0xD2511F53, c0), p1 = philox_product(0xCD9E8D57, c2);
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(p1);
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(p0);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {{c0, c1, c2, c3}};
}

// Streams of one seed.
inline constexpr std::uint32_t element_stream = 0; // one word an element
inline constexpr std::uint32_t second_stream = 1;  // a block an element, where one word is not enough
inline constexpr std::uint32_t line_stream = 2;    // a block a line

// The word of element i: 32 neighbouring elements share 8 blocks, word by word, so that bulk loops store in
// order.
ASSAY_ANYWHERE std::uint32_t element_word(std::uint64_t seed, std::uint64_t i) {
  return philox(seed, (i >> 5 << 3) + (i & 7), element_stream).word[(i >> 3) & 3];
}

// The words of 32 elements that begin at `first`, a multiple of 32.
inline void element_words_32(std::uint64_t seed, std::uint64_t first, std::uint32_t* out) {
  for (unsigned lane = 0; lane < 8; ++lane) {
    const PhiloxBlock block = philox(seed, (first >> 5 << 3) + lane, element_stream);
    for (unsigned w = 0; w < 4; ++w) out[8 * w + lane] = block.word[w];
  }
}

} // namespace assay
