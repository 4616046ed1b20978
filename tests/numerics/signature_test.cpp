#include "harness/numerics/signature.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace assay {
namespace {

TEST(signature, text) {
  EXPECT_EQ(to_string(Signature{"softmax_naive", Pass::forward, "y", Kind::structure, {}}),
            "softmax_naive-forward-y-structure");
  EXPECT_EQ(to_string(Signature{"k", Pass::forward, "scratch", Kind::race, {"k.cu", 41, 0}}),
            "k-forward-scratch-race-k.cu-41");
  EXPECT_EQ(to_string(Signature{"k", Pass::backward, "", Kind::timeout, {}}), "k-backward--timeout");
  EXPECT_EQ(to_string(Signature{"k", Pass::forward, "x", Kind::misaligned, {"k.cu", 4, 7}}),
            "k-forward-x-misaligned-k.cu-4-7");
}

TEST(signature, text_names_a_folder) {
  const std::string text =
      to_string(Signature{"a b/../c", Pass::forward, "y", Kind::race, {"/tmp/ä\n.cu", 1, 0}});
  EXPECT_EQ(text, "a_x20b_x2f.._x2fc-forward-y-race-_x2ftmp_x2f_xc3_xa4_x0a.cu-1");
  EXPECT_EQ(text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"),
            std::string::npos);
}

TEST(signature, distinct_ones_have_distinct_texts) {
  const std::vector<Signature> signatures{
      {"a", Pass::forward, "y", Kind::gate, {}},
      {"a", Pass::backward, "y", Kind::gate, {}},
      {"a", Pass::forward, "y", Kind::ulp, {}},
      {"a", Pass::forward, "", Kind::gate, {}},
      {"a-forward", Pass::forward, "y", Kind::gate, {}},
      {"a", Pass::forward, "forward-y", Kind::gate, {}},
      {"a_x2dforward", Pass::forward, "y", Kind::gate, {}},
      {"a", Pass::forward, "y", Kind::race, {"k-1.cu", 4, 0}},
      {"a", Pass::forward, "y", Kind::race, {"k-1.cu", 0, 0}},
      {"a", Pass::forward, "y", Kind::race, {"k", 1, 4}},
      {std::string(300, 'k'), Pass::forward, "y", Kind::gate, {}},
      {std::string(300, 'k'), Pass::forward, "y", Kind::race, {}},
      {std::string(301, 'k'), Pass::forward, "y", Kind::gate, {}},
  };
  std::set<std::string> texts;
  for (const Signature& signature : signatures) {
    texts.insert(to_string(signature));
    EXPECT_LE(to_string(signature).size(), 200u);
  }
  EXPECT_EQ(texts.size(), signatures.size());
}

TEST(signature, names_round_trip) {
  for (int i = 0; i <= static_cast<int>(Kind::nondeterministic); ++i)
    EXPECT_EQ(parse_kind(name_of(static_cast<Kind>(i))), static_cast<Kind>(i));
  EXPECT_EQ(parse_pass("backward"), Pass::backward);
  EXPECT_EQ(parse_pass("sideways"), std::nullopt);
  EXPECT_EQ(parse_kind("Gate"), std::nullopt);
  EXPECT_EQ(name_of(Kind::out_of_bounds), "out_of_bounds");
}

TEST(signature, only_numeric_kinds_need_confirmation) {
  EXPECT_FALSE(is_structural(Kind::gate));
  EXPECT_FALSE(is_structural(Kind::ulp));
  EXPECT_FALSE(is_structural(Kind::bias));
  EXPECT_TRUE(is_structural(Kind::structure));
  EXPECT_TRUE(is_structural(Kind::mismatch));
  EXPECT_TRUE(is_structural(Kind::race));
  EXPECT_TRUE(is_structural(Kind::nondeterministic));
}

} // namespace
} // namespace assay
