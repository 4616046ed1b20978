// One piece of work on several threads, where its parts do not depend on each other. How many is a setting of
// the process, 1 until it is set: then all of it runs on the caller's thread. What comes out is the same for
// any number. Threads are started for the work and have ended when it returns, so that a process may fork at
// any other time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace assay {

// Of this process, from now on; below 1 is 1.
void use_threads(int threads);
int threads_used();
// As many as are fair where `processes` like this one share the host.
int threads_of_host(std::uint64_t processes);

// While one lives, what this thread does stays on it.
class OnOneThread {
 public:
  OnOneThread();
  OnOneThread(const OnOneThread&) = delete;
  OnOneThread& operator=(const OnOneThread&) = delete;
  ~OnOneThread();

 private:
  bool before_;
};

// Into how many pieces work of so much `cost` is split, none of which is worth a thread below `least`: 1
// where there is one thread, within a piece, and while an OnOneThread lives.
std::size_t pieces_of(double cost, double least);

// run(p) for p < pieces, each once, in no promised order. What it throws comes out here, of several the
// first by p.
void in_pieces(std::size_t pieces, const std::function<void(std::size_t)>& run);

// Where piece p of `count` items begins; piece p - 1 ends there.
inline std::size_t piece_begin(std::size_t count, std::size_t pieces, std::size_t p) {
  return count / pieces * p + std::min(p, count % pieces);
}

// run(begin, end) over ranges that make up [0, count). least: so many items are worth a thread.
template <class Run> void in_ranges(std::size_t count, double least, const Run& run) {
  const std::size_t pieces = std::min(pieces_of(static_cast<double>(count), least), count);
  if (pieces <= 1) {
    if (count > 0) run(std::size_t{0}, count);
    return;
  }
  in_pieces(pieces,
            [&](std::size_t p) { run(piece_begin(count, pieces, p), piece_begin(count, pieces, p + 1)); });
}

// make(begin, end) of ranges that make up [0, count), one after the other: to be joined in that order.
template <class Make> auto parts_of(std::size_t count, double least, const Make& make) {
  const std::size_t pieces = std::min(pieces_of(static_cast<double>(count), least), count);
  std::vector<decltype(make(count, count))> parts(pieces);
  in_pieces(pieces, [&](std::size_t p) {
    parts[p] = make(piece_begin(count, pieces, p), piece_begin(count, pieces, p + 1));
  });
  return parts;
}

// The first i < count of which is(i) holds; count where there is none.
template <class Is> std::size_t first_where(std::size_t count, double least, const Is& is) {
  const auto search = [&](std::size_t begin, std::size_t end) {
    while (begin < end && !is(begin)) ++begin;
    return begin;
  };
  const std::size_t pieces = std::min(pieces_of(static_cast<double>(count), least), count);
  if (pieces <= 1) return search(0, count);
  std::vector<std::size_t> found(pieces, count);
  in_pieces(pieces, [&](std::size_t p) {
    const std::size_t end = piece_begin(count, pieces, p + 1);
    if (const std::size_t i = search(piece_begin(count, pieces, p), end); i < end) found[p] = i;
  });
  return std::ranges::min(found);
}

// `least` of a loop that does little with each element but load and store it.
inline constexpr double least_elements = 1 << 15;

} // namespace assay
