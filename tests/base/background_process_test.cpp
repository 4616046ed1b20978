// Work in a child that nobody waits for.
#include "harness/base/background_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace assay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Result<void> end_of(BackgroundProcess& process, std::chrono::seconds limit = 60s) {
  for (;;) {
    if (auto ended = process.ended(limit)) return *std::move(ended);
    std::this_thread::sleep_for(1ms);
  }
}

TEST(BackgroundProcess, DoesItsWorkElsewhereAndSaysSoOnce) {
  BackgroundProcess process;
  const pid_t here = ::getpid();
  for (int i = 0; i < 2; ++i) {
    process.start([&]() -> Result<void> {
      if (::getpid() == here) return internal_error("not in a child");
      return {};
    });
    EXPECT_TRUE(process.running());
    EXPECT_TRUE(end_of(process));
    EXPECT_FALSE(process.running());
  }
}

TEST(BackgroundProcess, WhatIsWrongIsTheUsersWhateverItWas) {
  BackgroundProcess process;
  process.start([]() -> Result<void> { return environment_error({}, "no NVRTC"); });
  const auto ended = end_of(process);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::user);
  EXPECT_EQ(ended.error().message, "no NVRTC");
}

TEST(BackgroundProcess, AChildThatIsKilledIsTold) {
  BackgroundProcess process;
  process.start([]() -> Result<void> {
    ::raise(SIGSEGV);
    return {};
  });
  const auto ended = end_of(process);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message, HasSubstr("signal 11"));
}

TEST(BackgroundProcess, OneThatIsNotDoneInTimeIsKilled) {
  BackgroundProcess process;
  process.start([]() -> Result<void> {
    ::pause();
    return {};
  });
  const auto ended = end_of(process, 0s);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message, HasSubstr("not done within 0 s"));
  EXPECT_FALSE(process.running());
}

TEST(BackgroundProcess, ItDoesNotOutliveItsOwner) {
  {
    BackgroundProcess process;
    process.start([]() -> Result<void> {
      ::pause();
      return {};
    });
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1); // no child is left
}

} // namespace
} // namespace assay
