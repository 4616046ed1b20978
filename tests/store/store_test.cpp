#include "harness/base/files.h"
#include "harness/store/corpus.h"
#include "harness/store/finding_store.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

class Store : public ::testing::Test {
 protected:
  void SetUp() override {
    case_.manifest = "kernels/k/kernel.toml";
    case_.dims = {{"n", 3}};
  }
  void TearDown() override { fs::permissions(folder_, fs::perms::owner_all); } // or it cannot be removed

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
  Case case_;
  Signature signature_{"k", Pass::forward, "y", Kind::gate, {}};
};

TEST_F(Store, TheFirstHitIsKeptAndLaterOnesOnlyCount) {
  const FindingStore store(folder_);
  {
    auto claim = store.claim(signature_, case_);
    ASSERT_TRUE(claim && *claim);
    EXPECT_TRUE(fs::exists(folder_ / "k" / "k-forward-y-gate" / "original.case"));
    EXPECT_FALSE(fs::exists(folder_ / "k" / "k-forward-y-gate" / "minimized.case"));
    ASSERT_TRUE((*claim)->complete(case_, "{}\n"));
  }
  Case later = case_;
  later.dims[0].second = 7;
  const auto again = store.claim(signature_, later);
  ASSERT_TRUE(again);
  EXPECT_FALSE(*again);
  ASSERT_TRUE(store.add_hits(signature_, 40));
  EXPECT_EQ(*store.hits(signature_), 42u);
  EXPECT_EQ(*read_file(folder_ / "k/k-forward-y-gate/original.case"), to_text(case_));
  const auto listed = store.list();
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ((*listed)[0].case_file.filename(), "minimized.case");
  EXPECT_EQ((*listed)[0].hits, 42u);
}

TEST_F(Store, AFolderWhereACaseBelongsSilencesNoFinding) {
  const FindingStore store(folder_);
  fs::create_directories(store.folder_of(signature_) / "minimized.case");
  const auto claim = store.claim(signature_, case_);
  ASSERT_TRUE(claim);
  EXPECT_TRUE(*claim);
}

// The kernel was mended and then broken otherwise: the old case is kept whole beside the new one.
TEST_F(Store, AnEarlierCaseIsSetAsideAndNothingIsLost) {
  const FindingStore store(folder_);
  const fs::path folder = store.folder_of(signature_);
  Case smaller = case_, other = case_;
  smaller.dims[0].second = 1;
  other.dims[0].second = 9;
  ASSERT_TRUE((*store.claim(signature_, case_))->complete(smaller, "{\"of\": 1}\n"));
  const std::string outdated = to_text(smaller);
  EXPECT_FALSE(*store.replace(signature_, other, "another text")) << "somebody else has replaced it";
  {
    const auto claim = store.replace(signature_, other, outdated);
    ASSERT_TRUE(claim && *claim);
    EXPECT_FALSE(*store.replace(signature_, other, outdated)) << "somebody is at it";
    EXPECT_FALSE(fs::exists(folder / "minimized.case"));
    ASSERT_TRUE((*claim)->complete(other, "{\"of\": 2}\n"));
  }
  const auto listed = store.list();
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_FALSE((*listed)[0].earlier);
  EXPECT_EQ(*read_file((*listed)[0].case_file), to_text(other));
  const StoredFinding& earlier = (*listed)[1];
  EXPECT_TRUE(earlier.earlier);
  EXPECT_EQ(earlier.signature, "k-forward-y-gate");
  EXPECT_EQ(*read_file(earlier.folder / "minimized.case"), outdated);
  EXPECT_EQ(*read_file(earlier.folder / "original.case"), to_text(case_));
  EXPECT_EQ(*read_file(earlier.folder / "report.json"), "{\"of\": 1}\n");
  EXPECT_EQ(name_of_case((*listed)[0].case_file), "k-forward-y-gate");
  EXPECT_EQ(name_of_case(earlier.case_file), "k-forward-y-gate-" + earlier.folder.filename().string());
  EXPECT_EQ(name_of_case("some/where.case"), "where");
  EXPECT_EQ(*store.hits(signature_), 1u);
}

TEST_F(Store, AnOriginalThatWasNeverMinimizedIsKeptToo) {
  const FindingStore store(folder_);
  Case other = case_;
  other.dims[0].second = 9;
  ASSERT_TRUE(*store.claim(signature_, case_)); // and given back without an end
  ASSERT_TRUE(*store.claim(signature_, case_)); // the same again: nothing to set aside
  EXPECT_EQ(store.list()->size(), 1u);
  ASSERT_TRUE(*store.claim(signature_, other));
  const auto listed = store.list();
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ(*read_file((*listed)[0].case_file), to_text(other));
  EXPECT_EQ(*read_file((*listed)[1].case_file), to_text(case_));
}

TEST_F(Store, AClaimIsGivenBackByAProcessThatDies) {
  const FindingStore store(folder_);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto claim = store.claim(signature_, case_);
    ::_exit(claim && *claim ? 0 : 1); // without completing it
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const auto claim = store.claim(signature_, case_);
  ASSERT_TRUE(claim);
  EXPECT_TRUE(*claim);
}

TEST_F(Store, OfManyProcessesOneClaimsAndNoHitIsLost) {
  const FindingStore store(folder_);
  constexpr int processes = 8, hits = 50;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      int claims = 0;
      for (int i = 0; i < hits; ++i) {
        const auto claim = store.claim(signature_, case_);
        if (claim && *claim) {
          ++claims;
          (void)(*claim)->complete(case_, "{}\n");
        }
      }
      ::_exit(claims);
    }
    children.push_back(child);
  }
  int claims = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    claims += WEXITSTATUS(status);
  }
  EXPECT_EQ(claims, 1);
  EXPECT_EQ(*store.hits(signature_), static_cast<std::uint64_t>(processes * hits));
}

TEST_F(Store, KernelNamesCannotLeaveTheFolder) {
  const FindingStore store(folder_);
  signature_.kernel = "../../etc/k";
  const fs::path folder = store.folder_of(signature_).lexically_relative(folder_);
  EXPECT_EQ(std::distance(folder.begin(), folder.end()), 2);
  EXPECT_NE(*folder.begin(), "..");
}

TEST_F(Store, AnUnwritableFolderIsAnEnvironmentError) {
  const fs::path file = folder_ / "file";
  std::ofstream(file) << "x";
  const auto claim = FindingStore(file).claim(signature_, case_);
  ASSERT_FALSE(claim);
  EXPECT_EQ(claim.error().kind, ErrorKind::environment);
}

TEST_F(Store, ACorpusHoldsEachCaseOnce) {
  const Corpus corpus(folder_ / "seeds");
  EXPECT_TRUE(corpus.files()->empty());
  const auto first = corpus.add(case_);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->is_new);
  EXPECT_FALSE(corpus.add(case_)->is_new);
  Case other = case_;
  other.dims[0].second = 4;
  EXPECT_TRUE(corpus.add(other)->is_new);
  ASSERT_TRUE(write_file(folder_ / "seeds" / ".hidden", "x"));
  EXPECT_EQ(corpus.files()->size(), 2u);
  EXPECT_EQ(*read_file(first->file), to_text(case_));
}

} // namespace
} // namespace assay
