#include "harness/base/check.h"
#include "harness/base/error.h"
#include "harness/base/hash.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

Result<int> half(int x) {
  if (x % 2) return user_error({"k.toml", 3, 5}, "{} is odd, an even number was expected", x);
  return x / 2;
}

Result<int> quarter(int x) {
  ASSAY_TRY(const int once, half(x));
  ASSAY_TRY_VOID(half(once));
  return half(once);
}

TEST(error, text_leaves_out_what_is_not_known) {
  EXPECT_EQ(to_string(half(3).error()), "k.toml:3:5: 3 is odd, an even number was expected");
  EXPECT_EQ(to_string(Error{ErrorKind::user, "m", {"f", 7, 0}}), "f:7: m");
  EXPECT_EQ(to_string(Error{ErrorKind::user, "m", {"f", 0, 9}}), "f: m");
  EXPECT_EQ(to_string(Error{ErrorKind::user, "m", {"", 7, 0}}), "line 7: m");
  EXPECT_EQ(to_string(Error{ErrorKind::user, "m", {}}), "m");
}

TEST(error, a_message_is_one_line_whatever_it_quotes) {
  EXPECT_EQ(one_line("plain \xc3\xa9"), "plain \xc3\xa9");
  EXPECT_EQ(one_line("a\nb\tc\x7f\x01"), "a\\nb\\tc\\x7f\\x01");
  const Result<int> failed = user_error({"f", 1, 0}, "no field '{}'", "x\ny");
  EXPECT_EQ(to_string(failed.error()), "f:1: no field 'x\\ny'");
}

TEST(error, each_kind_has_its_exit_code) {
  EXPECT_EQ(exit_code(half(1).error().kind), 2);
  EXPECT_EQ(exit_code(environment_error({}, "no NVRTC").error().kind), 4);
  EXPECT_EQ(exit_code(internal_error("bug").error().kind), 70);
}

TEST(error, try_returns_the_first_error) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(5).error().message, "5 is odd, an even number was expected");
  EXPECT_EQ(quarter(6).error().message, "3 is odd, an even number was expected");
}

TEST(check, a_broken_assumption_exits_with_70) {
  const int x = 4;
  ASSAY_CHECK(x == 4, "never seen");
  EXPECT_EXIT(ASSAY_CHECK(x == 5, "x is {}", x), testing::ExitedWithCode(70),
              "assay: internal fault at .*base_test.cpp:[0-9]+: x is 4 \\(x == 5\\)");
}

TEST(hash, is_xxh3) { // the published values for no bytes at all
  EXPECT_EQ(content_hash(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(content_hash64(""), 0x99aa06d3014798d8u);
  EXPECT_NE(content_hash("a"), content_hash("b"));
  EXPECT_NE(content_hash(std::string_view("a\0", 2)), content_hash("a"));
}

} // namespace
} // namespace assay
