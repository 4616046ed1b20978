#include "harness/base/content_cache.h"
#include "harness/base/files.h"
#include "harness/base/hash.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(ContentCache, gives_back_what_was_stored_under_its_key_and_kind_alone) {
  const TemporaryFolder folder;
  const ContentCache cache(folder.path(), "code");
  const std::string key = content_hash("a"), bytes("\0\x7f\nELF", 6);
  EXPECT_FALSE(cache.load(key));
  EXPECT_TRUE(cache.store(key, bytes));
  EXPECT_EQ(cache.load(key), bytes);
  EXPECT_FALSE(cache.load(content_hash("b")));
  EXPECT_FALSE(ContentCache(folder.path(), "ptx").load(key));
  EXPECT_FALSE(ContentCache({}, "code").load(key));
  EXPECT_FALSE(ContentCache({}, "code").store(key, bytes));
}

TEST(ContentCache, whatever_does_not_check_out_is_a_miss) {
  const TemporaryFolder folder;
  const ContentCache cache(folder.path(), "code");
  const std::string key = content_hash("a");
  ASSERT_TRUE(cache.store(key, "bytes"));
  const std::string good = read_file(cache.file_of(key)).value();
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] ^= 1;
    ASSERT_TRUE(write_file(cache.file_of(key), bad));
    EXPECT_FALSE(cache.load(key)) << at;
    ASSERT_TRUE(write_file(cache.file_of(key), good.substr(0, at)));
    EXPECT_FALSE(cache.load(key)) << at;
  }
  const std::string other = content_hash("b");
  ASSERT_TRUE(write_file(cache.file_of(other), good));
  EXPECT_FALSE(cache.load(other));
}

TEST(ScratchFolder, goes_with_all_that_is_in_it_unless_it_is_kept) {
  std::filesystem::path gone, kept;
  for (std::filesystem::path* path : {&gone, &kept}) {
    auto folder = ScratchFolder::create("test");
    ASSERT_TRUE(folder);
    *path = folder->path();
    ASSERT_TRUE(write_file(*path / "a/b", "c"));
    ScratchFolder moved = *std::move(folder);
    EXPECT_TRUE(std::filesystem::exists(*path / "a/b"));
    if (path == &kept) moved.keep();
  }
  EXPECT_FALSE(std::filesystem::exists(gone));
  EXPECT_TRUE(std::filesystem::exists(kept / "a/b"));
  std::filesystem::remove_all(kept);
}

} // namespace
} // namespace assay
