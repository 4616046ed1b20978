// The parts of the command that need no kernel.
#include "fuzz/finding_event.h"
#include "fuzz/status.h"
#include "tests/end_to_end/program.h"
#include "tools/case_file.h"
#include "tools/duration.h"
#include "tools/manifest_path.h"
#include "tools/text.h"
#include "tools/worker_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <thread>

namespace assay {
namespace {

TEST(Duration, ReadsSecondsMinutesHours) {
  EXPECT_EQ(parse_duration("90").value(), 90);
  EXPECT_EQ(parse_duration("90s").value(), 90);
  EXPECT_EQ(parse_duration("1.5m").value(), 90);
  EXPECT_EQ(parse_duration("8h").value(), 28800);
}

TEST(Duration, RefusesEverythingElse) {
  for (const char* text : {"", "s", "0", "-5", "5d", "5 s", "1e3", "nan", "inf", "99999999h", "5ss"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::user);
  }
}

TEST(Text, CountsAndClocks) {
  EXPECT_EQ(counted(0, "finding"), "0 findings");
  EXPECT_EQ(counted(1, "finding"), "1 finding");
  EXPECT_EQ(clock_text(-3), "0:00");
  EXPECT_EQ(clock_text(6.2), "0:07");
  EXPECT_EQ(clock_text(3599), "59:59");
  EXPECT_EQ(clock_text(28800), "8:00:00");
}

TEST(FindingEvent, SurvivesTheFile) {
  const TemporaryFolder folder;
  const FindingEvent event{"k-forward-y-gate", "out/k/k-forward-y-gate", 1.25, 3};
  ASSERT_TRUE(append_event(folder / "events", event));
  ASSERT_TRUE(append_event(folder / "events", event));
  const std::string text = testing::slurp(folder / "events");
  const auto read = parse_event(std::string_view(text).substr(0, text.find('\n')));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->signature, event.signature);
  EXPECT_EQ(read->folder, event.folder);
  EXPECT_EQ(read->seconds_to_find, 1.25);
  EXPECT_EQ(read->minimized_elements, 3u);
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  for (const char* line :
       {"", "{", "[]", "{}", R"({"signature":1,"folder":"","seconds_to_find":0,"minimized_elements":0})"})
    EXPECT_FALSE(parse_event(line)) << line;
}

TEST(Status, IsSharedThroughItsFile) {
  const TemporaryFolder folder;
  auto campaign = StatusFile::create(folder / "status");
  ASSERT_TRUE(campaign);
  auto worker = StatusFile::open(folder / "status");
  ASSERT_TRUE(worker);
  (*worker)->begin_case("assay-case 1\n");
  ++(*worker)->cases;
  EXPECT_EQ((*campaign)->cases, 1u);
  EXPECT_EQ((*campaign)->running, 1u);
  EXPECT_EQ((*campaign)->case_text(), "assay-case 1\n");
  (*campaign)->stop = stop_at_once;
  EXPECT_EQ((*worker)->stop, stop_at_once);
}

TEST(Status, RefusesAnotherFile) {
  const TemporaryFolder folder;
  EXPECT_FALSE(StatusFile::open(folder / "none"));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, sizeof(WorkerStatus), sizeof(WorkerStatus) + 8}) {
    const auto status = StatusFile::open(folder.write("zeros", std::string(size, '\0')));
    ASSERT_FALSE(status) << size;
    EXPECT_EQ(status.error().kind, ErrorKind::environment);
    EXPECT_THAT(status.error().message, ::testing::HasSubstr("another build of assay wrote it")) << size;
  }
}

Ended wait_for(WorkerProcess& process) {
  for (;;) {
    if (const auto ended = process.poll()) return *ended;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST(WorkerProcess, TellsHowItEndedAndKeepsTheLog) {
  const TemporaryFolder folder;
  auto process = WorkerProcess::start({.program = "/bin/sh",
                                       .args = {"-c", "echo $GREETING; exit 71"},
                                       .environment = {{"GREETING", "hello"}},
                                       .log = folder / "log"});
  ASSERT_TRUE(process);
  const Ended ended = wait_for(*process);
  EXPECT_EQ(ended, (Ended{false, 71}));
  EXPECT_EQ(describe(ended), "exit status 71 (out of memory)");
  EXPECT_EQ(testing::slurp(folder / "log"), "hello\n");
  EXPECT_EQ(last_log_lines(folder / "log", 3), "hello");
}

TEST(WorkerProcess, TellsOfASignal) {
  const TemporaryFolder folder;
  auto process = WorkerProcess::start(
      {.program = "/bin/sh", .args = {"-c", "kill -SEGV $$"}, .environment = {}, .log = folder / "log"});
  ASSERT_TRUE(process);
  EXPECT_EQ(wait_for(*process), (Ended{true, SIGSEGV}));
}

TEST(WorkerProcess, SaysThatAProgramIsNotThere) {
  const TemporaryFolder folder;
  const auto process =
      WorkerProcess::start({.program = "/nonexistent", .args = {}, .environment = {}, .log = folder / "log"});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().kind, ErrorKind::environment);
}

TEST(CaseFiles, OfAFolderAreItsCasesButNoOriginalOfAMinimizedOne) {
  const TemporaryFolder folder;
  folder.write("a/minimized.case", "");
  folder.write("a/original.case", "");
  folder.write("a/report.json", "");
  folder.write("b/original.case", "");
  const std::vector<std::string> paths{folder.path().string()};
  const auto files = case_files(paths);
  ASSERT_TRUE(files);
  EXPECT_EQ(*files,
            (std::vector<std::filesystem::path>{folder / "a/minimized.case", folder / "b/original.case"}));
}

TEST(CaseFiles, OfAFolderWithoutAnyIsAnError) {
  const TemporaryFolder folder;
  const std::vector<std::string> paths{folder.path().string()};
  const auto files = case_files(paths);
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().kind, ErrorKind::user);
}

TEST(ManifestPath, IsAFileAFolderOrAName) {
  const TemporaryFolder folder;
  const std::string manifest = folder.write("k/kernel.toml", "");
  EXPECT_EQ(resolve_manifest(manifest).value(), manifest);
  EXPECT_EQ(resolve_manifest(folder / "k").value(), manifest);
  EXPECT_EQ(resolve_manifest("softmax").value(),
            "kernels/softmax/kernel.toml"); // from the top of the checkout
  for (const std::string& argument : {std::string(), folder / "none", folder.path().string()})
    EXPECT_FALSE(resolve_manifest(argument)) << argument;
}

} // namespace
} // namespace assay
