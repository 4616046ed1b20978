#include "harness/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace assay {
namespace {

class Parallel : public ::testing::Test {
 protected:
  ~Parallel() override { use_threads(1); }
};

TEST_F(Parallel, OneThreadUntilItIsSaid) {
  EXPECT_EQ(threads_used(), 1);
  EXPECT_EQ(pieces_of(1e9, 1), 1);
  use_threads(-3);
  EXPECT_EQ(threads_used(), 1);
}

TEST_F(Parallel, EveryItemOnceByAsManyThreadsAsThereAre) {
  use_threads(4);
  for (const std::size_t count : {0, 1, 3, 7, 1000}) {
    std::vector<std::atomic<int>> seen(count);
    std::mutex mutex;
    std::set<std::thread::id> threads;
    in_ranges(count, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++seen[i];
      const std::scoped_lock lock(mutex);
      threads.insert(std::this_thread::get_id());
    });
    for (const auto& times : seen) EXPECT_EQ(times, 1);
    EXPECT_LE(threads.size(), 4);
  }
}

TEST_F(Parallel, SmallWorkAndWorkWithinAPieceIsNotSplit) {
  use_threads(4);
  EXPECT_EQ(pieces_of(1999, 1000), 1);
  EXPECT_EQ(pieces_of(2000, 1000), 2);
  EXPECT_EQ(pieces_of(1e9, 1000), 16);
  in_pieces(4, [](std::size_t) { EXPECT_EQ(pieces_of(1e9, 1), 1); });
  const OnOneThread alone;
  EXPECT_EQ(pieces_of(1e9, 1), 1);
}

TEST_F(Parallel, TheFirstPlaceWhateverThreadFindsIt) {
  use_threads(4);
  std::vector<int> values(10000);
  EXPECT_EQ(first_where(values.size(), 1, [&](std::size_t i) { return values[i] != 0; }), values.size());
  values[9000] = values[4321] = 1;
  EXPECT_EQ(first_where(values.size(), 1, [&](std::size_t i) { return values[i] != 0; }), 4321);
}

TEST_F(Parallel, TheFirstExceptionComesOut) {
  use_threads(4);
  std::atomic<int> ended = 0;
  try {
    in_pieces(16, [&](std::size_t p) {
      ++ended;
      if (p == 5 || p == 11) throw std::runtime_error(std::to_string(p));
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "5");
  }
  EXPECT_EQ(ended, 16);
}

} // namespace
} // namespace assay
