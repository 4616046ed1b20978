// The threads that share a line: one (many short lines, or columns, whose neighbours read side by side), a
// warp, or the whole block (few long lines). All of them run the same code; what they hand each other goes
// through shared memory.
#pragma once

#include "harness/screen/layout.h"

#include <cstdint>

namespace assay::screen {

inline constexpr int most_threads = most_judge_threads;
inline int block_threads() { return static_cast<int>(blockDim.x); }
inline constexpr int warp_threads = 32;
inline constexpr int terms_a_thread = 4; // of a sum in order, handed on at a time
inline constexpr int largest_state = 64; // bytes of what a merge hands on

// Of a block.
struct Exchange {
  alignas(16) double terms[2][most_threads * terms_a_thread];
  alignas(16) unsigned char states[2][most_threads * largest_state / warp_threads];
};

// Words of a value through a shuffle.
template <class T> T shuffled_xor(const T& value, int distance) {
  static_assert(sizeof(T) % 4 == 0);
  union Words {
    std::uint32_t word[sizeof(T) / 4];
    T value;
    Words() {}
  } words;
  words.value = value;
  for (auto& word : words.word) word = __shfl_xor_sync(0xffffffff, word, distance);
  return words.value;
}

struct Team {
  int lanes = 1; // 1, warp_threads or block_threads()
  int lane = 0;
  int number = 0, teams = 1; // which of how many

  static Team of(int lanes) {
    const int thread = static_cast<int>(threadIdx.x);
    Team team;
    team.lanes = lanes;
    team.lane = lanes == 1 ? 0 : lanes == warp_threads ? thread % warp_threads : thread;
    team.number = lanes == 1 ? thread : lanes == warp_threads ? thread / warp_threads : 0;
    team.teams = lanes == 1 ? block_threads() : lanes == warp_threads ? block_threads() / warp_threads : 1;
    return team;
  }

  void sync() const {
    if (lanes == warp_threads) __syncwarp();
    if (lanes > warp_threads) __syncthreads();
  }

  // The merge of every lane's state, the same in all lanes. merge(a, b) must not depend on which is first.
  template <class State, class Merge>
  State merged(State state, const Merge& merge, Exchange& exchange) const {
    if (lanes == 1) return state;
    for (int distance = warp_threads / 2; distance > 0; distance /= 2) {
      const State other = shuffled_xor(state, distance);
      merge(state, other);
    }
    if (lanes == warp_threads) return state;
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
