// Registers know of lanes only, not of bytes, that they are undefined. So that a struct may be copied with
// its padding, and half of a register be used, what is partly undefined is remembered by its bits: the bytes
// that are undefined in a lane's value of these bits, all of them where it is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace assay::cpu {

class PartialValues {
 public:
  // A lane's register of `bytes` (at most 8) holds `bits`, of which the bytes of the mask are undefined; not
  // none.
  void note(unsigned lane, std::uint64_t bits, unsigned bytes, unsigned undefined);
  unsigned undefined_bytes(unsigned lane, std::uint64_t bits, unsigned bytes) const;
  void clear() {
    if (!known_.empty()) known_.clear();
  }

 private:
  struct Key {
    std::uint64_t bits;
    std::uint32_t lane, bytes;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return static_cast<std::size_t>(
          (key.bits ^ (std::uint64_t{key.lane} << 8 | key.bytes)) * 0x9e3779b97f4a7c15u >> 16);
    }
  };
  static constexpr std::size_t most = std::size_t{1} << 16; // then all are forgotten

  std::unordered_map<Key, std::uint8_t, Hash> known_;
};

} // namespace assay::cpu
