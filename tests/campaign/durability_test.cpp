// Campaigns are killed, starved of disk and interrupted at random moments; what was reported stays, nothing
// is half of itself, and the same command goes on.
#include "fuzz/status.h"
#include "harness/base/files.h"
#include "harness/cases/case.h"
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sys/mount.h>
#include <thread>
#include <unistd.h>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

const std::vector<std::string> kernels = {"kernels/softmax_naive/kernel.toml",
                                          "kernels/faulty/rmsnorm_partial_warp/kernel.toml"};

// Of two megabytes, where we may mount one; an ordinary folder elsewhere.
class SmallDisk {
 public:
  SmallDisk() : mounted_(::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=2m") == 0) {}
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool can_be_full() const { return mounted_; }
  void fill() const {
    std::ofstream file(folder_ / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void make_room() const { fs::remove(folder_ / "filler"); }
  std::string out() const { return folder_ / "findings"; }

 private:
  TemporaryFolder folder_;
  bool mounted_;
};

void wait_for_workers(int pid) {
  for (int wait = 0; wait < 3000 && children_of(pid).empty(); ++wait)
    std::this_thread::sleep_for(milliseconds(10));
}

// What of a folder must never get less.
struct Kept {
  std::map<std::string, std::string> cases; // minimized ones, and originals of what is not minimized yet
  std::map<std::string, std::uint64_t> hits;
  std::uint64_t cases_run = 0; // of the campaign that is to go on
};

// A file that was made, and whose maker was killed before the first count, holds none.
std::uint64_t hits_in(const fs::path& file) {
  const std::string text = slurp(file);
  return text.empty() ? 0 : std::stoull(text);
}

Kept look_at(const std::string& out) {
  Kept kept;
  if (!fs::exists(out)) return kept;
  for (const auto& entry : fs::recursive_directory_iterator(out)) {
    const fs::path& file = entry.path();
    const std::string name = file.filename().string();
    if (name.starts_with(".") || !entry.is_regular_file()) continue;
    if (file.extension() == ".case") {
      const std::string text = slurp(file);
      const auto parsed = parse_case(text, file.string());
      EXPECT_TRUE(parsed) << "half-written: " << to_string(parsed.error());
      if (name == "minimized.case") {
        kept.cases[file.string()] = text;
        EXPECT_TRUE(fs::exists(file.parent_path() / "original.case")) << file;
        EXPECT_TRUE(fs::exists(file.parent_path() / "report.json")) << file;
      }
    }
    if (file.extension() == ".json") EXPECT_TRUE(json::accept(slurp(file))) << "half-written: " << file;
    if (name == "hits") kept.hits[file.string()] = hits_in(file);
    if (file.extension() == ".status")
      if (const auto status = StatusFile::open(file)) kept.cases_run += (*status)->cases;
  }
  return kept;
}

std::set<std::string> told_in(const std::string& output) {
  static const std::regex line("\n  case    (\\S+)\n");
  std::set<std::string> told;
  for (std::sregex_iterator it(output.begin(), output.end(), line), end; it != end; ++it)
    told.insert((*it)[1]);
  return told;
}

std::vector<std::string> command(const std::string& out) {
  std::vector<std::string> args{"fuzz"};
  args.insert(args.end(), kernels.begin(), kernels.end());
  for (const char* word : {"--time", "1000", "--jobs", "2"}) args.emplace_back(word);
  args.insert(args.end(), {"--out", out});
  return args;
}

enum class Blow { worker, campaign, both, interrupt, full_disk };

std::string_view name_of(Blow blow) {
  constexpr std::string_view names[] = {"kill a worker", "kill the campaign", "kill both", "interrupt",
                                        "full disk"};
  return names[static_cast<int>(blow)];
}

// A process that has ended but that nobody has waited for does not run.
bool runs(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const std::size_t name_ends = text.rfind(')');
  return name_ends != std::string::npos && text.size() > name_ends + 2 && text[name_ends + 2] != 'Z';
}

void strike(Blow blow, int pid, const SmallDisk& disk, std::mt19937& random) {
  const std::vector<int> workers = children_of(pid);
  const auto kill_one = [&] {
    if (!workers.empty()) ::kill(workers[random() % workers.size()], SIGKILL);
  };
  switch (blow) {
  case Blow::worker:
    kill_one();
    std::this_thread::sleep_for(milliseconds(100 + random() % 300));
    ::kill(pid, SIGINT);
    break;
  case Blow::campaign:
    ::kill(pid, SIGKILL);
    break;
  case Blow::both:
    kill_one();
    ::kill(pid, SIGKILL);
    break;
  case Blow::interrupt:
    ::kill(pid, SIGINT);
    break;
  case Blow::full_disk:
    disk.fill();
    std::this_thread::sleep_for(milliseconds(100 + random() % 400));
    ::kill(pid, SIGKILL);
    break;
  }
  for (int wait = 0; wait < 400 && !workers.empty(); ++wait) { // workers end with their campaign
    if (std::ranges::none_of(workers, runs)) return;
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_TRUE(workers.empty()) << "a worker is left";
}

// Fifty blows, in ten folders, so that first findings are struck as often as later counting.
TEST(Durability, FiftyBlowsAtRandomMomentsLoseNothing) {
  constexpr int folders = 10, blows_each = 5;
  std::mt19937 random(20'261);
  std::map<std::string_view, int> struck;
  std::size_t findings = 0;
  for (int f = 0; f < folders; ++f) {
    const SmallDisk disk;
    Kept before;
    std::set<std::string> told;
    for (int round = 0; round < blows_each; ++round) {
      auto blow = static_cast<Blow>(random() % (disk.can_be_full() ? 5 : 4));
      const auto moment = milliseconds(random() % 600);
      const bool prepared = random() % 5 != 0; // else the blow may fall before there is a worker
      SCOPED_TRACE(fmt::format("folder {} round {}: {} after {}", f, round, name_of(blow), moment.count()));
      const ProgramRun run = run_assay(command(disk.out()), {.while_running = [&](int pid) {
                                         if (prepared) wait_for_workers(pid);
                                         std::this_thread::sleep_for(moment);
                                         strike(blow, pid, disk, random);
                                       }});
      if (disk.can_be_full()) disk.make_room();
      ++struck[name_of(blow)];
      for (const std::string& file : told_in(run.out)) told.insert(file);
      const Kept after = look_at(disk.out());
      for (const std::string& file : told) // told on the screen, so on disk
        EXPECT_TRUE(fs::exists(file) || fs::exists(fs::path(file).replace_filename("minimized.case")))
            << file;
      for (const auto& [file, text] : before.cases) {
        const auto still = after.cases.find(file);
        ASSERT_NE(still, after.cases.end()) << "lost: " << file;
        EXPECT_EQ(still->second, text);
      }
      for (const auto& [file, hits] : before.hits) {
        ASSERT_TRUE(after.hits.contains(file));
        EXPECT_GE(after.hits.at(file), hits);
      }
      EXPECT_GE(after.cases_run, before.cases_run) << run.err;
      before = after;
      if (HasFatalFailure()) return;
    }
    // The same command once more: what was told is told again or counted, and the corpus is whole.
    std::vector<std::string> args = command(disk.out());
    args.insert(args.end(), {"--json", disk.out() + "/fuzz.json"});
    const ProgramRun run = run_assay(args, {.while_running = [](int pid) {
                                       wait_for_workers(pid);
                                       std::this_thread::sleep_for(milliseconds(700));
                                       ::kill(pid, SIGINT);
                                     }});
    EXPECT_THAT(run.err, HasSubstr("going on with the campaign"));
    const json report = json::parse(slurp(disk.out() + "/fuzz.json"));
    std::uint64_t cases = 0;
    std::set<std::string> reported;
    for (const json& kernel : report) {
      cases += kernel["cases"].get<std::uint64_t>();
      for (const json& finding : kernel["findings"]) {
        const fs::path file = finding["case"].get<std::string>();
        reported.insert(file.parent_path().string());
        EXPECT_TRUE(fs::exists(file)) << file;
        EXPECT_EQ(finding["hits"], hits_in(file.parent_path() / "hits")) << file;
      }
    }
    EXPECT_GE(cases, before.cases_run);
    for (const std::string& file : told)
      EXPECT_TRUE(reported.contains(fs::path(file).parent_path().string())) << file << run.out << run.err;
    findings += reported.size();
    for (const auto& entry : fs::recursive_directory_iterator(disk.out()))
      if (entry.path().parent_path().filename() == "corpus")
        EXPECT_TRUE(parse_case(slurp(entry.path()), entry.path().string())) << entry.path();
  }
  for (const auto& [blow, times] : struck)
    std::printf("%.*s: %d times\n", static_cast<int>(blow.size()), blow.data(), times);
  EXPECT_GE(findings, std::size_t{folders});
}

TEST(Durability, AFullDiskIsToldAndTheFindingComesWithTheNextCampaign) {
  const SmallDisk disk;
  if (!disk.can_be_full()) GTEST_SKIP() << "a small file system cannot be mounted here";
  const std::vector<std::string> args{"fuzz",         kernels[0], "--time", "20", "--jobs", "1",
                                      "--stop-after", "1",        "--seed", "5",  "--out",  disk.out()};
  const ProgramRun full = run_assay(args, {.while_running = [&](int pid) {
                                      wait_for_workers(pid);
                                      disk.fill();
                                    }});
  EXPECT_EQ(full.exit, 4) << full.out << full.err;
  EXPECT_THAT(full.err, HasSubstr("No space left"));
  EXPECT_THAT(full.err, HasSubstr("the same command goes on"));
  disk.make_room();
  const ProgramRun again = run_assay(args);
  EXPECT_EQ(again.exit, 1) << again.out << again.err;
  EXPECT_THAT(again.err, HasSubstr("going on"));
  EXPECT_EQ(told_in(again.out).size(), 1u) << again.out;
}

TEST(Durability, ACampaignEndsInTimeWhateverTheClockOnTheWallSays) {
  const fs::path library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
  if (!fs::exists(library)) GTEST_SKIP() << "libfaketime is not installed";
  const TemporaryFolder folder;
  const std::string clock = folder.write("clock", "+0");
  const ProgramRun run = run_assay({"fuzz", "kernels/softmax/kernel.toml", "--time", "4", "--jobs", "1",
                                    "--out", folder / "findings", "--json", folder / "fuzz.json"},
                                   {.environment = {{"LD_PRELOAD", library.string()},
                                                    {"FAKETIME_TIMESTAMP_FILE", clock},
                                                    {"FAKETIME_NO_CACHE", "1"},
                                                    {"DONT_FAKE_MONOTONIC", "1"},
                                                    {"FAKETIME_DONT_FAKE_MONOTONIC", "1"}},
                                    .while_running = [&](int) {
                                      for (const char* jump : {"+30d", "-400d", "+0"}) {
                                        std::this_thread::sleep_for(milliseconds(700));
                                        folder.write("clock", jump);
                                      }
                                    }});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  EXPECT_LT(run.seconds, 30);
  const json report = json::parse(slurp(folder / "fuzz.json"));
  EXPECT_NEAR(report["seconds"].get<double>(), 4, 1.5);
  EXPECT_GT(report["cases"], 0);
}

TEST(Durability, TwoCampaignsDoNotMeetInAFolder) {
  const TemporaryFolder folder;
  const std::vector<std::string> args{
      "fuzz", "kernels/softmax/kernel.toml", "--time", "1000", "--jobs", "1", "--out", folder / "findings"};
  ProgramRun second;
  const ProgramRun first = run_assay(args, {.while_running = [&](int pid) {
                                       wait_for_workers(pid);
                                       second = run_assay(args);
                                       ::kill(pid, SIGINT);
                                     }});
  EXPECT_EQ(second.exit, 2) << second.err;
  EXPECT_THAT(second.err, HasSubstr("another campaign is at work there"));
  EXPECT_EQ(std::ranges::count(second.err, '\n'), 1) << second.err;
  EXPECT_NE(first.exit, 2) << first.err;
}

TEST(Durability, AReadOnlyFolderIsRefusedBeforeAnyCase) {
  const TemporaryFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", MS_RDONLY, "size=1m") != 0)
    GTEST_SKIP() << "a read-only file system cannot be mounted here";
  const ProgramRun run =
      run_assay({"fuzz", "kernels/softmax/kernel.toml", "--time", "5", "--out", folder / "findings"});
  ::umount2(folder.path().c_str(), MNT_DETACH);
  EXPECT_EQ(run.exit, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("Read-only file system"));
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
}

// In the morning, before the campaign has ended.
TEST(Durability, FindingsAreReadWhileACampaignAddsToThem) {
  const TemporaryFolder folder;
  const std::string out = folder / "findings";
  run_assay(command(out), {.while_running = [&](int pid) {
              const auto stored = [&] {
                return fs::exists(out + "/softmax_naive/softmax_naive-forward-y-structure/minimized.case");
              };
              for (int wait = 0; wait < 3000 && !stored(); ++wait)
                std::this_thread::sleep_for(milliseconds(10));
              for (const char* round : {"1", "2", "3"}) {
                const std::string told = folder / (std::string(round) + ".json");
                const ProgramRun triage = run_assay({"triage", out, "--json", told});
                EXPECT_EQ(triage.exit, 1) << triage.out << triage.err;
                const json report = json::parse(slurp(told));
                EXPECT_TRUE(report["unread"].empty()) << report["unread"];
                EXPECT_FALSE(report["groups"].empty());
                const ProgramRun replay = run_assay({"replay", out});
                EXPECT_EQ(replay.exit, 1) << replay.out << replay.err;
              }
              ::kill(pid, SIGINT);
            }});
}

TEST(Durability, AFolderThatVanishesEndsTheCampaignWithAWord) {
  const TemporaryFolder folder;
  std::vector<std::string> args = command(folder / "findings");
  const ProgramRun run = run_assay(args, {.while_running = [&](int pid) {
                                     wait_for_workers(pid);
                                     std::this_thread::sleep_for(milliseconds(300));
                                     fs::rename(folder / "findings", folder / "elsewhere");
                                   }});
  EXPECT_EQ(run.exit, 4) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("is there no longer"));
}

} // namespace
} // namespace assay::testing
