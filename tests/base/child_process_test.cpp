// Work in a fork of this process, and what becomes of it.
#include "harness/base/child_process.h"
#include "harness/base/last_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

namespace assay {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

ForkedRun fork_for(const std::function<std::string()>& work, const ForkLimits& limits = {}) {
  const auto run = run_forked(work, limits);
  EXPECT_TRUE(run);
  return run.value_or(ForkedRun{});
}

TEST(RunForked, AnswersWithWhateverTheWorkReturns) {
  const std::string bytes("\0\n\xff", 3);
  for (const std::string& text : {std::string(), bytes, std::string(3'000'000, 'x')}) {
    const ForkedRun run = fork_for([&] { return text; });
    EXPECT_EQ(run.exit, 0);
    EXPECT_EQ(run.text, text);
    EXPECT_TRUE(run.in_time);
    EXPECT_EQ(run.last_words, "");
  }
}

TEST(RunForked, TellsHowTheWorkEnded) {
  const ForkedRun killed = fork_for([]() -> std::string { ::raise(SIGKILL), std::abort(); });
  EXPECT_EQ(how_it_ended(killed.exit), "was killed by signal 9 (Killed)");
  const ForkedRun left = fork_for([]() -> std::string { ::_exit(3); });
  EXPECT_EQ(how_it_ended(left.exit), "ended with exit status 3");
  const ForkedRun threw = fork_for([]() -> std::string { throw std::runtime_error("no more"); });
  EXPECT_EQ(threw.exit, 70);
  EXPECT_EQ(threw.last_words, "no more");
  const ForkedRun said = fork_for([]() -> std::string { end_process(2, "the words"); });
  EXPECT_EQ(said.exit, 2);
  EXPECT_EQ(said.last_words, "the words");
}

TEST(RunForked, EndsWorkThatComputesOrWaitsForEver) {
  const auto computes = [] -> std::string {
    for (volatile int k = 0;; k = k + 1) {
    }
  };
  EXPECT_FALSE(fork_for(computes, {.processor = seconds(1)}).in_time);
  const auto waits = [] -> std::string {
    for (;;) ::pause();
  };
  EXPECT_FALSE(fork_for(waits, {.patience = seconds(1)}).in_time);
}

TEST(RunForked, BoundsItsMemory) {
  const auto work = [] { return std::string(std::size_t{1} << 30, 'x'); };
  const ForkedRun run = fork_for(work, {.bytes = std::size_t{64} << 20});
  EXPECT_EQ(run.exit, 70);
  EXPECT_THAT(run.last_words, HasSubstr("bad_alloc"));
}

TEST(RunForked, HasNoInputAndWritesNoResults) {
  const ForkedRun run = fork_for([]() -> std::string {
    return fmt::format("{} {}", std::getchar() == EOF, ::isatty(STDOUT_FILENO) == ::isatty(STDERR_FILENO));
  });
  EXPECT_EQ(run.text, "true true");
}

} // namespace
} // namespace assay
