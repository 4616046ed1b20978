// One bit a byte of memory, in 64-bit words. Ranges that belong to one element never cross a word, because an
// element is aligned to its size and at most 32 bytes (a vector access counts as one element).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::cpu {

// Storage is used again by the next case, so that a small one allocates nothing; a larger piece is given
// back, for otherwise the largest case would decide for good what a process holds.
inline constexpr std::size_t kept_bytes = std::size_t{128} << 10;

template <class T> void give_back(std::vector<T>& storage) {
  if (storage.capacity() * sizeof(T) > kept_bytes) std::vector<T>().swap(storage);
}

class ByteBits {
 public:
  // `bytes` bits, all equal to `value`; the storage is kept when it is large enough.
  void assign(std::size_t bytes, bool value) { words_.assign(bytes / 64 + 2, value ? ~std::uint64_t{0} : 0); }
  void clear() { words_.clear(); }
  void give_back() { ::assay::cpu::give_back(words_); }
  bool empty() const { return words_.empty(); }
  const std::uint64_t* words() const { return words_.data(); }
  std::uint64_t* words() { return words_.data(); }

 private:
  std::vector<std::uint64_t> words_;
};

// bits [offset, offset + count) that lie in one word
inline std::uint64_t element_mask(std::size_t offset, unsigned count) {
  return ((count == 64 ? 0 : std::uint64_t{1} << count) - 1) << (offset % 64);
}
inline bool any_in_element(const std::uint64_t* words, std::size_t offset, unsigned count) {
  return (words[offset / 64] & element_mask(offset, count)) != 0;
}
inline void set_element(std::uint64_t* words, std::size_t offset, unsigned count) {
  words[offset / 64] |= element_mask(offset, count);
}
inline void clear_element(std::uint64_t* words, std::size_t offset, unsigned count) {
  words[offset / 64] &= ~element_mask(offset, count);
}

// Calls f(word index, mask) for the words of bits [offset, offset + count).
template <class F> inline void for_words(std::size_t offset, std::size_t count, F&& f) {
  std::size_t word = offset / 64;
  const std::size_t last = (offset + count - 1) / 64;
  std::uint64_t mask = ~std::uint64_t{0} << (offset % 64);
  for (; word < last; ++word, mask = ~std::uint64_t{0}) f(word, mask);
  const std::size_t tail = (offset + count) % 64;
  f(word, tail ? mask & ((std::uint64_t{1} << tail) - 1) : mask);
}
inline bool any_in_range(const std::uint64_t* words, std::size_t offset, std::size_t count) {
  std::uint64_t found = 0;
  for_words(offset, count, [&](std::size_t word, std::uint64_t mask) { found |= words[word] & mask; });
  return found != 0;
}
inline void set_range(std::uint64_t* words, std::size_t offset, std::size_t count) {
  if (count) for_words(offset, count, [&](std::size_t word, std::uint64_t mask) { words[word] |= mask; });
}
inline void clear_range(std::uint64_t* words, std::size_t offset, std::size_t count) {
  if (count) for_words(offset, count, [&](std::size_t word, std::uint64_t mask) { words[word] &= ~mask; });
}

} // namespace assay::cpu
