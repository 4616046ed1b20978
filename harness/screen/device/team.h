// The threads that share a line: one (many short lines, or columns, whose neighbours read side by side), a
// quarter of a warp (many lines), a warp, or the whole block (few long lines). All of them run the same code;
// what they hand each other goes through shared memory.
#pragma once

#include "harness/screen/layout.h"

#include <cstdint>

namespace assay::screen {

inline constexpr int most_threads = most_judge_threads;
inline int block_threads() { return static_cast<int>(blockDim.x); }
inline constexpr int warp_threads = 32, quarter_threads = 8;
inline constexpr int terms_a_thread = 4; // of a sum in order, handed on at a time
inline constexpr int largest_state = 64; // bytes of what a merge hands on

// Between the terms of two teams, so that those of a warp meet no bank of shared memory at once.
inline constexpr int bytes_apart = 32;

// Of a block.
struct Exchange {
  static constexpr int term_bytes =
      most_threads * terms_a_thread * 8 + most_threads / quarter_threads * bytes_apart;
  alignas(16) unsigned char terms[2][term_bytes];
  alignas(16) unsigned char states[2][most_threads * largest_state / warp_threads];
};

// Words of a value through a shuffle.
template <class T> T shuffled_xor(const T& value, int distance, unsigned mask) {
  static_assert(sizeof(T) % 4 == 0);
  union Words {
    std::uint32_t word[sizeof(T) / 4];
    T value;
    Words() {}
  } words;
  words.value = value;
  for (auto& word : words.word) word = __shfl_xor_sync(mask, word, distance);
  return words.value;
}

struct Team {
  int lanes = 1; // 1, quarter_threads, warp_threads or block_threads()
  int lane = 0;
  int number = 0, teams = 1;  // which of how many
  unsigned mask = 0xffffffff; // of its lanes in their warp

  static Team of(int lanes) {
    const int thread = static_cast<int>(threadIdx.x);
    Team team;
    team.lanes = lanes;
    team.number = thread / lanes;
    team.lane = thread % lanes;
    team.teams = block_threads() / lanes;
    if (lanes < warp_threads) team.mask = ((1u << lanes) - 1) << (thread % warp_threads - team.lane);
    return team;
  }

  bool within_warp() const { return lanes <= warp_threads; }
  void sync() const {
    if (!within_warp())
      __syncthreads();
    else if (lanes > 1)
      __syncwarp(mask);
  }

  bool any(bool of_lane) const {
    if (!within_warp()) return __syncthreads_or(of_lane) != 0;
    return lanes > 1 ? __any_sync(mask, of_lane) != 0 : of_lane;
  }

  // The merge of every lane's state, the same in all lanes. merge(a, b) must not depend on which is first.
  template <class State, class Merge>
  State merged(State state, const Merge& merge, Exchange& exchange) const {
#pragma unroll
    for (int distance = warp_threads / 2; distance > 0; distance /= 2) {
      if (distance >= lanes) continue;
      const State other = shuffled_xor(state, distance, mask);
      merge(state, other);
    }
    if (within_warp()) return state;
    static_assert(sizeof(State) <= largest_state);
    State* states = reinterpret_cast<State*>(exchange.states[0]);
    __syncthreads();
    if (threadIdx.x % warp_threads == 0) states[threadIdx.x / warp_threads] = state;
    __syncthreads();
    state = states[0];
    for (int warp = 1; warp < block_threads() / warp_threads; ++warp) merge(state, states[warp]);
    return state;
  }
};

} // namespace assay::screen
