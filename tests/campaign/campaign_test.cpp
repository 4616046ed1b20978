// Campaigns over several kernels, on a terminal, interrupted, and over kernels that never end.
#include "tests/end_to_end/program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

void wait_for_workers(int pid, std::size_t count) {
  for (int wait = 0; wait < 600 && children_of(pid).size() < count; ++wait)
    std::this_thread::sleep_for(milliseconds(50));
}

TEST(SeveralKernels, ShareTheTimeAndEachFaultIsTold) {
  const TemporaryFolder folder;
  const ProgramRun run =
      run_assay({"fuzz", "kernels/softmax/kernel.toml", "kernels/softmax_naive/kernel.toml",
                 "kernels/faulty/max_starts_at_zero/kernel.toml", "--time", "12", "--jobs", "1", "--out",
                 folder / "findings", "--json", folder / "fuzz.json"},
                {.while_running = [](int pid) {
                  wait_for_workers(pid, 3);
                  std::this_thread::sleep_for(milliseconds(1500));
                  for (const int worker : children_of(pid))
                    EXPECT_TRUE(children_of(worker).empty()) << "a process that no one counts or ends";
                }});
  EXPECT_EQ(run.exit, 1) << run.out << run.err;
  EXPECT_LT(run.seconds, 40);
  const json report = json::parse(slurp(folder / "fuzz.json"));
  ASSERT_EQ(report.size(), 3u);
  double seconds = 0;
  for (const json& kernel : report) {
    EXPECT_GT(kernel["cases"], 0) << kernel;
    seconds += kernel["seconds"].get<double>();
  }
  EXPECT_NEAR(seconds, 12, 2) << "one worker at a time: the kernels' seconds add up to the campaign's";
  EXPECT_TRUE(report[0]["findings"].empty()) << report[0];
  EXPECT_FALSE(report[1]["findings"].empty());
  EXPECT_FALSE(report[2]["findings"].empty());
  EXPECT_THAT(run.out, HasSubstr("3 kernels: "));
  std::size_t told = 0;
  for (std::size_t at = run.out.find("FINDING"); at != std::string::npos;
       at = run.out.find("FINDING", at + 1))
    ++told;
  EXPECT_EQ(told, report[1]["findings"].size() + report[2]["findings"].size());
  EXPECT_THAT(run.err, HasSubstr("3 kernels: ")) << "a line now and then";
  EXPECT_THAT(run.err, Not(HasSubstr("\033"))) << "no terminal, no escapes";
}

TEST(SeveralKernels, OfOneNameAreRefused) {
  const TemporaryFolder folder;
  const fs::path copy = copy_kernel("softmax", folder);
  const ProgramRun run = run_assay(
      {"fuzz", "kernels/softmax/kernel.toml", copy.string(), "--time", "5", "--out", folder / "findings"});
  EXPECT_EQ(run.exit, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("is named softmax, as"));
  EXPECT_FALSE(fs::exists(folder / "findings"));
}

TEST(SeveralKernels, OneThatDoesNotCompileIsToldAndLeftOut) {
  const TemporaryFolder folder;
  const fs::path broken = copy_kernel("softmax_naive", folder);
  const fs::path source = broken.parent_path() / "softmax_naive.cu";
  const std::string text = slurp(source);
  std::ofstream(source) << text << "nonsense\n";
  const ProgramRun run = run_assay({"fuzz", broken.string(), "kernels/relu/kernel.toml", "--time", "4",
                                    "--jobs", "1", "--out", folder / "findings"});
  EXPECT_EQ(run.exit, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("softmax_naive is left out: " + source.string()));
  EXPECT_THAT(run.out, HasSubstr("softmax_naive was left out: "));
  EXPECT_THAT(run.out, HasSubstr("relu on cpu: "));
  const ProgramRun alone = run_assay({"fuzz", broken.string(), "--time", "4", "--out", folder / "alone"});
  EXPECT_EQ(alone.exit, 2) << alone.err;
  EXPECT_FALSE(fs::exists(folder / "alone")) << "refused before anything is written";
}

// A corpus of copies of one unit: the search keeps the unit, and what it adds.
TEST(Corpus, IsPrunedBeforeAWorkerStartsOnceItIsLarge) {
  const TemporaryFolder folder;
  const std::string unit =
      slurp(checkout() / "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case");
  for (int k = 0; k < 600; ++k)
    folder.write(fmt::format("corpus/{:040x}", k),
                 replaced(unit, "schedule = 0", fmt::format("schedule = {}", k)));
  const std::string by_hand = folder.write("corpus/by_hand.case", unit);
  const ProgramRun run = run_assay({"fuzz", "kernels/softmax/kernel.toml", "--time", "20", "--jobs", "1",
                                    "--corpus", folder / "corpus", "--out", folder / "findings"});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  int copies = 0;
  for (int k = 0; k < 600; ++k)
    copies += fs::exists(folder.path() / fmt::format("corpus/{:040x}", k)) ? 1 : 0;
  EXPECT_LT(copies, 50);
  EXPECT_GE(copies, 1);
  EXPECT_TRUE(fs::exists(by_hand));
  const json record = json::parse(slurp(folder / "findings/softmax/campaign/campaign.json"));
  EXPECT_EQ(record["units"], copies + 1) << "what merging kept, and what people named";
  EXPECT_FALSE(fs::exists(folder.path() / "findings/softmax/campaign/merged"));
}

TEST(Terminal, ShowsALineAKernelThatIsRewrittenInPlace) {
  const TemporaryFolder folder;
  const std::string command =
      assay_program() +
      " fuzz kernels/softmax/kernel.toml kernels/softmax_naive/kernel.toml --time 5 --jobs 1 --out " +
      (folder / "findings");
  const ProgramRun run =
      run_program("/usr/bin/script", {"-qec", "stty rows 20 cols 100; " + command, "/dev/null"});
  EXPECT_EQ(run.exit, 1) << run.out;
  for (const char* part : {"last new", "softmax_naive", " left", "\033[J", "\033[3A", "of 2 kernels"})
    EXPECT_THAT(run.out, HasSubstr(part));
  EXPECT_THAT(run.out, HasSubstr("2 kernels: "));
}

TEST(CtrlC, TwiceEndsAtOnceAndSaysWhy) {
  const TemporaryFolder folder;
  std::chrono::steady_clock::time_point second;
  const ProgramRun run = run_assay(
      {"fuzz", "kernels/softmax/kernel.toml", "--time", "300", "--jobs", "1", "--out", folder / "findings"},
      {.while_running = [&](int pid) {
        wait_for_workers(pid, 1);
        std::this_thread::sleep_for(milliseconds(800));
        for (const int worker : children_of(pid)) ::kill(worker, SIGSTOP); // will not end by itself
        ::kill(pid, SIGINT);
        std::this_thread::sleep_for(milliseconds(200));
        ::kill(pid, SIGINT);
        second = std::chrono::steady_clock::now();
      }});
  EXPECT_LT(std::chrono::steady_clock::now() - second, std::chrono::seconds(2));
  EXPECT_THAT(run.out, HasSubstr("interrupted")) << run.err;
  EXPECT_THAT(run.err, HasSubstr("interrupted again"));
  EXPECT_THAT(run.err, Not(HasSubstr("too long")));
}

constexpr const char* endless = R"(op = "relu"
source = "endless.cu"
dtypes = ["f32"]
[dims]
n = { min = 1, max = 64 }
[[launch]]
kernel = "endless"
grid = ["1"]
block = ["32"]
args = ["x", "y", "n"]
)";

TEST(Time, IsKeptWhenAKernelLoopsForever) {
  const TemporaryFolder folder;
  folder.write("endless/kernel.toml", endless);
  folder.write("endless/endless.cu",
               "extern \"C\" __global__ void endless(const float* x, float* y, int n) {\n"
               "  volatile int turns = 1;\n  while (turns) turns = turns | 1;\n  y[0] = x[0];\n}\n");
  const ProgramRun run = run_assay({"fuzz", folder / "endless", "--time", "5", "--jobs", "1", "--out",
                                    folder / "findings", "--json", folder / "fuzz.json"});
  EXPECT_EQ(run.exit, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("FINDING timeout"));
  EXPECT_LT(run.seconds, 25) << run.err; // five, the worker's start, and at most nine for what was in work
  const json report = json::parse(slurp(folder / "fuzz.json"));
  EXPECT_NEAR(report["seconds"].get<double>(), 5, 2);
}

TEST(Resume, TheSameCommandGoesOnAndAnotherBeginsAnew) {
  const TemporaryFolder folder;
  const auto args = [&](const char* time) {
    return std::vector<std::string>{
        "fuzz",   "kernels/softmax/kernel.toml", "--time", time, "--jobs", "1", "--out", folder / "findings",
        "--json", folder / "fuzz.json"};
  };
  const auto kill_soon = [](int pid) {
    wait_for_workers(pid, 1);
    std::this_thread::sleep_for(milliseconds(2500));
    ::kill(pid, SIGINT);
  };
  const ProgramRun first = run_assay(args("7"), {.while_running = kill_soon});
  EXPECT_EQ(first.exit, 0) << first.out << first.err;
  const json before = json::parse(slurp(folder / "fuzz.json"));
  const ProgramRun second = run_assay(args("7"));
  EXPECT_EQ(second.exit, 0) << second.out << second.err;
  EXPECT_THAT(second.err, HasSubstr("going on with the campaign that was ended after 0:0"));
  const json after = json::parse(slurp(folder / "fuzz.json"));
  EXPECT_GT(after["cases"], before["cases"]);
  EXPECT_NEAR(after["seconds"].get<double>(), 7, 1.5);
  EXPECT_LT(second.seconds, 15);
  const ProgramRun third = run_assay(args("3"));
  EXPECT_THAT(third.err, Not(HasSubstr("going on")));
  EXPECT_NEAR(json::parse(slurp(folder / "fuzz.json"))["seconds"].get<double>(), 3, 1);
}

TEST(Usage, AnOptionThatDoesNotExistIsToldBeforeOneThatIsMissing) {
  const ProgramRun run = run_assay({"fuzz", "--bogus"});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("there is no option --bogus"));
  EXPECT_THAT(run_assay({"fuzz"}).err, HasSubstr("kernel is required"));
}

TEST(Seeds, ThatAreNoCaseAreCountedAndLeftOut) {
  const TemporaryFolder folder;
  const std::string broken = folder.write("corpus/notes.case", "assay-case 1\nhalf");
  const ProgramRun run = run_assay({"fuzz", "kernels/relu/kernel.toml", "--runs", "20", "--jobs", "1",
                                    "--corpus", folder / "corpus", "--out", folder / "findings"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("/corpus: 1 file left out, being no case: " + broken + ":2"));
}

// Of a relu that gives NaN where `wrong` is true.
void write_relu(const TemporaryFolder& folder, const std::string& wrong) {
  folder.write("relu/kernel.toml",
               replaced(replaced(endless, "endless.cu", "relu.cu"), "\"endless\"", "\"f\""));
  folder.write("relu/relu.cu", "extern \"C\" __global__ void f(const float* x, float* y, int n) {\n"
                               "  for (int i = threadIdx.x; i < n; i += 32)\n    y[i] = " +
                                   wrong + " ? __int_as_float(0x7fc00000) : fmaxf(x[i], 0) + 0 * x[i];\n}\n");
}

TEST(LibFuzzersFlags, OneThatItRefusesIsToldWithWhatItSaid) {
  for (const auto& [flag, said] : {std::pair("-dict=/dev/null", "ParseDictionaryFile: "),
                                   {"-artifact_prefix=/none/", "The required directory \"/none/\""}}) {
    const TemporaryFolder folder;
    const ProgramRun run = run_assay({"fuzz", "kernels/softmax/kernel.toml", "--time", "5", "--jobs", "2",
                                      "--out", folder / "findings", "--", flag});
    EXPECT_EQ(run.exit, 2) << run.out << run.err;
    EXPECT_THAT(run.err, ::testing::StartsWith("assay: " + (folder / "findings/softmax/campaign/worker-")));
    EXPECT_THAT(run.err, HasSubstr(fmt::format(".log: libFuzzer does not begin with {}: ", flag)));
    EXPECT_THAT(run.err, HasSubstr(said));
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    EXPECT_THAT(run.out, ::testing::IsEmpty());
  }
}

TEST(Findings, OfAKernelThatWasMendedAndBrokenOtherwiseAreAllKept) {
  const TemporaryFolder folder;
  const std::vector<std::string> fuzz{"fuzz", folder / "relu", "--time", "20",    "--stop-after",
                                      "1",    "--jobs",        "1",      "--out", folder / "findings"};
  const fs::path stored = folder / "findings/relu/relu-forward-y-structure";
  write_relu(folder, "n == 1");
  EXPECT_EQ(run_assay(fuzz).exit, 1);
  const std::string first = slurp(stored / "minimized.case");
  const std::string first_original = slurp(stored / "original.case");
  write_relu(folder, "n > 8");
  const ProgramRun second = run_assay(fuzz);
  EXPECT_EQ(second.exit, 1) << second.out << second.err;
  EXPECT_THAT(slurp(stored / "minimized.case"), HasSubstr("n = 9"));
  fs::path earlier;
  for (const auto& entry : fs::directory_iterator(stored))
    if (entry.path().filename().string().starts_with("earlier-")) earlier = entry.path();
  ASSERT_FALSE(earlier.empty());
  EXPECT_EQ(slurp(earlier / "minimized.case"), first);
  EXPECT_EQ(slurp(earlier / "original.case"), first_original);
  const ProgramRun replayed = run_assay({"replay", folder / "findings"});
  EXPECT_EQ(replayed.exit, 1);
  EXPECT_THAT(replayed.out, HasSubstr("1 passed, 1 failed, of 2 cases")) << replayed.out;
  const ProgramRun triaged = run_assay({"triage", folder / "findings"});
  EXPECT_THAT(triaged.out, HasSubstr("(fixed)")) << triaged.out;
}

TEST(Findings, StayWhereTheyAreWhenALaterOneIsMoreSevere) {
  const TemporaryFolder folder;
  const auto write_silu = [&](const std::string& factor) {
    folder.write("silu/kernel.toml",
                 replaced(replaced(endless, "\"relu\"", "\"silu\""), "\"endless\"", "\"f\""));
    folder.write("silu/endless.cu", "extern \"C\" __global__ void f(const float* x, float* y, int n) {\n"
                                    "  const float factor = " +
                                        factor +
                                        ";\n"
                                        "  for (int i = threadIdx.x; i < n; i += 32)\n"
                                        "    y[i] = x[i] / (1 + expf(-x[i])) * factor;\n}\n");
  };
  const auto fuzz = [&](const std::string& corpus) {
    return run_assay({"fuzz", folder / "silu", "--runs", "300", "--jobs", "1", "--out", folder / "findings",
                      "--corpus", folder / corpus});
  };
  const fs::path stored = folder / "findings/silu/silu-forward-y-gate";
  write_silu("n == 3 ? 1.000002f : 1");
  EXPECT_EQ(fuzz("first").exit, 1);
  const std::string first = slurp(stored / "minimized.case");
  write_silu("n == 3 ? 1.00000024f : 2");
  folder.write("second/seed.case", replaced(first, "n = 3", "n = 1")); // what the second campaign begins with
  const ProgramRun second = fuzz("second");
  EXPECT_EQ(second.exit, 1) << second.out << second.err;
  EXPECT_EQ(slurp(stored / "minimized.case"), first) << second.out;
  for (const auto& entry : fs::directory_iterator(stored))
    EXPECT_FALSE(entry.path().filename().string().starts_with("earlier-")) << entry.path();
}

TEST(Commands, ThatArePrintedBeginAsTheProgramWasCalled) {
  const TemporaryFolder folder;
  const std::string arguments =
      " fuzz kernels/softmax_naive/kernel.toml --time 20 --stop-after 1 --jobs 1 --out '" +
      (folder / "my findings") + "'";
  const std::string stored = " replay '" + (folder / "my findings") +
                             "/softmax_naive/softmax_naive-forward-y-structure/minimized.case'";
  const ProgramRun by_path = run_program("/bin/sh", {"-c", assay_program() + arguments});
  EXPECT_THAT(by_path.out, HasSubstr("replay  " + assay_program() + stored)) << by_path.err;
  const std::string on_path = "PATH=" + fs::path(assay_program()).parent_path().string() + ":$PATH; assay";
  const ProgramRun by_name = run_program("/bin/sh", {"-c", on_path + arguments});
  EXPECT_THAT(by_name.out, HasSubstr("replay  assay" + stored)) << by_name.err;
}

} // namespace
} // namespace assay::testing
