// Work spread over child processes.
#include "harness/base/last_words.h"
#include "harness/base/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <unistd.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

std::map<std::size_t, Result<std::string>> spread(std::size_t count, unsigned jobs,
                                                  const std::function<std::string(std::size_t)>& work) {
  std::map<std::size_t, Result<std::string>> results;
  const auto ran = for_each_in_processes(count, jobs, work, [&](std::size_t k, Result<std::string> text) {
    EXPECT_TRUE(results.emplace(k, std::move(text)).second) << k << " was told twice";
  });
  EXPECT_TRUE(ran);
  return results;
}

TEST(Processes, EachItemIsDoneOnceAndElsewhere) {
  const pid_t here = ::getpid();
  for (const unsigned jobs : {1u, 3u, 50u}) {
    const auto results = spread(
        20, jobs, [&](std::size_t k) { return fmt::format("{}{}", ::getpid() == here ? "here " : "", k); });
    ASSERT_EQ(results.size(), 20u);
    for (const auto& [k, text] : results) EXPECT_EQ(text.value(), std::to_string(k));
  }
}

TEST(Processes, TextsMayBeLargeOrEmpty) {
  const auto results =
      spread(4, 2, [](std::size_t k) { return std::string(k * 3'000'000, static_cast<char>('a' + k)); });
  for (const auto& [k, text] : results)
    EXPECT_EQ(text.value(), std::string(k * 3'000'000, static_cast<char>('a' + k)));
}

TEST(Processes, OneThatDiesCostsItsItemAlone) {
  for (const unsigned jobs : {1u, 2u}) {
    const auto results = spread(8, jobs, [](std::size_t k) {
      if (k == 2) ::raise(SIGKILL);
      if (k == 5) ::_exit(3);
      return std::to_string(k);
    });
    ASSERT_EQ(results.size(), 8u);
    for (const auto& [k, text] : results) {
      if (k != 2 && k != 5) {
        EXPECT_EQ(text.value(), std::to_string(k));
        continue;
      }
      ASSERT_FALSE(text);
      EXPECT_EQ(text.error().kind, ErrorKind::internal);
      EXPECT_THAT(text.error().message, HasSubstr(k == 2 ? "signal 9" : "exit status 3"));
    }
  }
}

TEST(Processes, OneThatSaysWhyItEndsIsToldSo) {
  const auto results = spread(3, 2, [](std::size_t k) {
    if (k == 1) end_process(2, "own.h: it threw");
    return std::to_string(k);
  });
  ASSERT_FALSE(results.at(1));
  EXPECT_EQ(results.at(1).error().kind, ErrorKind::user);
  EXPECT_EQ(results.at(1).error().message, "own.h: it threw");
  EXPECT_EQ(results.at(2).value(), "2");
}

TEST(Processes, NothingToDoStartsNone) {
  EXPECT_TRUE(spread(0, 4, [](std::size_t) { return ""; }).empty());
}

} // namespace
} // namespace assay
