#include "harness/base/bounded_folder.h"
#include "harness/base/files.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  std::size_t entries() const { // hidden ones too
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(Files, round_trip_with_every_byte) {
  std::string bytes;
  for (int i = 0; i < 100000; ++i) bytes += static_cast<char>(i * 7);
  const fs::path path = folder_ / "new" / "deeper" / "file";
  ASSERT_TRUE(write_file(path, bytes));
  EXPECT_EQ(read_file(path).value(), bytes);
  ASSERT_TRUE(write_file(path, ""));
  EXPECT_EQ(read_file(path).value(), "");
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST_F(Files, reading_what_is_no_file) {
  const Error missing = read_file(folder_ / "missing").error();
  EXPECT_EQ(missing.kind, ErrorKind::user);
  EXPECT_EQ(to_string(missing),
            (folder_ / "missing").string() + ": cannot be opened: No such file or directory");
  EXPECT_NE(to_string(read_file(folder_).error()).find("is a folder"), std::string::npos);
}

TEST_F(Files, reading_more_than_allowed) {
  ASSERT_TRUE(write_file(folder_ / "f", "12345"));
  EXPECT_EQ(read_file(folder_ / "f", 5).value(), "12345");
  const Error error = read_file(folder_ / "f", 4).error();
  EXPECT_EQ(error.kind, ErrorKind::user);
  EXPECT_NE(error.message.find("4 bytes"), std::string::npos);
}

TEST_F(Files, only_regular_files_are_read) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(read_file(pipe).error().message, "is not a regular file"); // and nobody waits for a writer
  EXPECT_EQ(read_file("/dev/zero").error().message, "is not a regular file");
}

TEST_F(Files, what_is_no_regular_file_is_written_into) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(write_file(pipe, "x").error().kind, ErrorKind::environment); // no reader
  ASSERT_TRUE(fs::is_fifo(pipe));

  ASSERT_EQ(::symlink("/dev/full", (folder_ / "full").c_str()), 0);
  EXPECT_EQ(write_file(folder_ / "full", "x").error().kind, ErrorKind::environment);
  EXPECT_TRUE(fs::is_symlink(folder_ / "full"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(Files, a_link_is_followed) {
  ASSERT_TRUE(write_file(folder_ / "target", "old"));
  fs::create_symlink("target", folder_ / "link");
  ASSERT_TRUE(write_file(folder_ / "link", "new"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "target").value(), "new");
}

TEST_F(Files, a_failed_write_leaves_nothing_behind) {
  fs::create_directories(folder_ / "taken" / "inside");
  const Result<void> over_folder = write_file(folder_ / "taken", "x");
  ASSERT_FALSE(over_folder);
  EXPECT_EQ(over_folder.error().kind, ErrorKind::environment);
  EXPECT_EQ(entries(), 1u);

  ASSERT_TRUE(write_file(folder_ / "file", "old"));
  EXPECT_FALSE(write_file(folder_ / "file" / "below", "x")); // its folder is a file
  EXPECT_EQ(read_file(folder_ / "file").value(), "old");
  EXPECT_EQ(entries(), 2u);
}

// Three files of 400 bytes under 1,000: the oldest goes, and then the next, to leave 750 at the most.
TEST(BoundedFolder, LosesWhatWasWrittenFirst) {
  const TemporaryFolder folder;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const char* name : {"b/new", "a/middle", "a/old"}) folder.write(name, std::string(400, 'x'));
  std::filesystem::last_write_time(folder / "a/old", now - std::chrono::hours(2));
  std::filesystem::last_write_time(folder / "a/middle", now - std::chrono::hours(1));
  EXPECT_EQ(keep_folder_below(folder.path(), 1200), 0u);
  EXPECT_EQ(keep_folder_below(folder.path(), 1000), 2u);
  EXPECT_FALSE(std::filesystem::exists(folder / "a/old"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a/middle"));
  EXPECT_TRUE(std::filesystem::exists(folder / "b/new"));
  EXPECT_EQ(keep_folder_below(folder / "none", 0), 0u);
}

} // namespace
} // namespace assay
