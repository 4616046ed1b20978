// Every option of every command given badly, and every file or folder that a command is to write given where
// it cannot be: one line, exit code 2, before any work. And help for those who read it.
#include "tests/bad_input/refused.h"

#include <algorithm>
#include <sstream>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

const std::string softmax = "kernels/softmax/kernel.toml";
const std::string no_max = "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case";

using Words = std::vector<std::string>;

Words joined(Words first, const Words& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

struct Command {
  Words words;   // complete, but for what is in `options`
  Words options; // that take a value
};

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {{"fuzz", softmax},
       {"--time", "--runs", "--seed", "--device", "--jobs", "--corpus", "--out", "--stop-after", "--json"}},
      {{"verify", softmax}, {"--device", "--seed", "--json"}},
      {{"replay", no_max}, {"--device", "--kernel", "--junit", "--json"}},
      {{"minimize", no_max}, {"--device", "--out"}},
      {{"explain", no_max}, {"--device"}},
      {{"triage", "corpus/softmax_no_max"}, {"--device", "--json", "--html"}},
      {{"export", no_max, "--format", "cu"}, {"--device", "--out"}},
      {{"run", softmax, "--in", "x.npz", "--out", "y.npz"}, {"--device", "--dims", "--dtype"}},
      {{"bench", softmax}, {"--device", "--seconds"}},
      {{"corpus", "add", no_max}, {"--corpus"}},
      {{"corpus", "merge", softmax, "corpus/softmax_no_max", "corpus/softmax_no_max"}, {"--device"}},
      {{"corpus", "prune", softmax, "corpus/softmax_no_max"}, {"--device"}},
      {{"corpus", "stats", "corpus/softmax_no_max"}, {}},
      {{"list", "ops"}, {}}};
  return all;
}

TEST(CommandLine, AnEmptyValueIsRefusedAndWhatBelongsThereTold) {
  for (const Command& command : commands())
    for (const std::string& option : command.options) {
      SCOPED_TRACE(command.words.front() + " " + option);
      expect_refused(run_assay(joined(command.words, {option, ""})), {option + ": an empty value, where "});
      expect_refused(run_assay(joined(command.words, {option + "="})), {option + ": an empty value, where "});
    }
  for (const Words& words : {Words{"fuzz", ""}, {"replay", ""}, {"triage", ""}, {"corpus", "stats", ""}})
    expect_refused(run_assay(words), {"an empty value, where "});
}

TEST(CommandLine, AValueThatIsMissingOrGivenTwiceIsToldAsThat) {
  for (const Command& command : commands())
    for (const std::string& option : command.options) {
      SCOPED_TRACE(command.words.front() + " " + option);
      expect_refused(run_assay(joined(command.words, {option})), {option + " lacks its value, "});
      expect_refused(run_assay(joined(command.words, {option, "1", option, "1"})),
                     {option + " is given 2 times"});
    }
}

TEST(CommandLine, AnUnknownOptionIsToldBeforeWhatElseIsWrong) {
  for (const Command& command : commands()) {
    Words name{command.words.begin(), command.words.begin() + (command.words.front() == "corpus" ? 2 : 1)};
    SCOPED_TRACE(name.back());
    expect_refused(run_assay(joined(name, {"--bogus"})), {"no option --bogus", name.back() + " --help"});
  }
  expect_refused(run_assay({"--bogus"}), {"no option --bogus"});
  expect_refused(run_assay({"fuzz", softmax, "--seed", "x", "--bogus"}), {"no option --bogus"});
  expect_refused(run_assay({"corpus", "frob"}), {"no command 'corpus frob'"});
  expect_refused(run_assay({"verify", softmax, "--", "-runs=3"}), {"only fuzz"});
}

TEST(CommandLine, SizesGivenTwiceAreRefused) {
  expect_refused(run_assay({"run", softmax, "--in", "x.npz", "--out", "y.npz", "--dims", "rows=3,rows=4"}),
                 {"--dims gives rows twice"});
}

TEST(Help, FitsAHundredColumnsAndHasAnExample) {
  std::vector<Words> pages{{}, {"corpus"}};
  for (const Command& command : commands())
    pages.emplace_back(command.words.begin(),
                       command.words.begin() + (command.words.front() == "corpus" ? 2 : 1));
  for (const Words& page : pages) {
    const ProgramRun run = run_assay(joined(page, {"--help"}));
    EXPECT_EQ(run.exit, 0);
    EXPECT_THAT(run.out, ::testing::HasSubstr("Example: assay "));
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(List, ABrokenManifestHidesNoOther) {
  const TemporaryFolder folder;
  copy_kernel("relu", folder);
  folder.write("kernels/broken/kernel.toml", "op = 3\n");
  const ProgramRun run = run_assay({"list", "kernels"}, {.folder = folder.path()});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.out, ::testing::HasSubstr("kernels/relu/kernel.toml  f32"));
  EXPECT_THAT(run.err, ::testing::HasSubstr("assay: kernels/broken/kernel.toml:1:"));
}

// --- what is to be written ---

struct Output {
  const char* name;
  Words words; // the last but one names what is to be written
  bool folder;
};

class Unwritable : public ::testing::TestWithParam<Output> {};

// Whether the folder is missing, a file is in the way, or permissions say no: one rule for all of them.
TEST_P(Unwritable, IsRefusedBeforeAnyWork) {
  const TemporaryFolder folder;
  folder.write("file", "x");
  folder.write("closed/x", "x");
  fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_exec | fs::perms::others_read);
  fs::permissions(folder.path() / "closed", fs::perms::owner_read | fs::perms::owner_exec |
                                                fs::perms::others_read | fs::perms::others_exec);
  Words places{folder / "none/deep/x", folder / "file/x", folder / "closed/y"};
  places.push_back(GetParam().folder ? folder / "file" : folder / "closed");
  for (const std::string& place : places) {
    SCOPED_TRACE(place);
    const ProgramRun run = run_assay(joined(GetParam().words, {place}), {.unprivileged = true});
    expect_refused(run, {place + ": "});
    EXPECT_FALSE(fs::exists(folder / "none"));
  }
  fs::permissions(folder.path() / "closed", fs::perms::owner_all);
}

INSTANTIATE_TEST_SUITE_P(
    Outputs, Unwritable,
    ::testing::Values(Output{"FuzzJson", {"fuzz", softmax, "--runs", "1", "--out", "/tmp", "--json"}, false},
                      Output{"FuzzOut", {"fuzz", softmax, "--runs", "1", "--out"}, true},
                      Output{
                          "FuzzCorpus", {"fuzz", softmax, "--runs", "1", "--out", "/tmp", "--corpus"}, true},
                      Output{"VerifyJson", {"verify", softmax, "--json"}, false},
                      Output{"ReplayJson", {"replay", no_max, "--json"}, false},
                      Output{"ReplayJunit", {"replay", no_max, "--junit"}, false},
                      Output{"MinimizeOut", {"minimize", no_max, "--out"}, false},
                      Output{"TriageJson", {"triage", "corpus/softmax_no_max", "--json"}, false},
                      Output{"TriageHtml", {"triage", "corpus/softmax_no_max", "--html"}, false},
                      Output{"ExportOut", {"export", no_max, "--format", "cu", "--out"}, false},
                      Output{"RunOut", {"run", softmax, "--in", "x.npz", "--out"}, false},
                      Output{"CorpusAdd", {"corpus", "add", no_max, "--corpus"}, true}),
    [](const auto& test) { return test.param.name; });

TEST(Outputs, OfCorpusMergeFollowTheSameRule) {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "x");
  for (const std::string& place : {folder / "none/deep", file, file + "/x"})
    expect_refused(run_assay({"corpus", "merge", softmax, place, "corpus/softmax_no_max"}), {place + ": "});
}

TEST(Outputs, TwoResultsInOneFileAreRefused) {
  const TemporaryFolder folder;
  const std::string file = folder / "x";
  expect_refused(run_assay({"replay", no_max, "--json", file, "--junit", file}),
                 {file, "two different results"});
  EXPECT_FALSE(fs::exists(file));
}

TEST(Outputs, NoCaseManifestOrSourceIsWrittenOver) {
  const TemporaryFolder folder;
  const std::string a_case = folder.write("a.case", slurp(no_max)), manifest = folder.write("k.toml", "x"),
                    source = folder.write("k.cu", "x");
  const auto refused = [](const Words& words) {
    expect_refused(run_assay(words), {words.back(), "no result"});
  };
  for (const std::string& file : {a_case, manifest, source}) {
    refused({"replay", a_case, "--junit", file});
    refused({"verify", softmax, "--json", file});
    refused({"triage", "corpus/softmax_no_max", "--html", file});
    refused({"export", a_case, "--format", "npz", "--out", file});
  }
  refused({"minimize", a_case, "--out", manifest});
  EXPECT_EQ(slurp(a_case), slurp(no_max));
  EXPECT_EQ(slurp(manifest) + slurp(source), "xx");
  EXPECT_EQ(run_assay({"export", a_case, "--format", "cu", "--out", source}).exit, 0);
  EXPECT_NE(slurp(source), "x") << "an export of before";
  for (const char* name : {"x.npz", "x.py", "x.md"})
    refused({"replay", a_case, "--junit", folder.write(name, "x")});
  EXPECT_EQ(slurp(folder / "x.npz") + slurp(folder / "x.py") + slurp(folder / "x.md"), "xxx");
}

TEST(Outputs, TheArraysThatRunReadsAreNotWrittenOver) {
  const TemporaryFolder folder;
  const std::string arrays = folder / "x.npz";
  ASSERT_EQ(run_assay({"export", no_max, "--format", "npz", "--out", arrays}).exit, 0);
  const std::string before = slurp(arrays);
  expect_refused(run_assay({"run", softmax, "--in", arrays, "--out", arrays}), {arrays, "--in"});
  EXPECT_EQ(slurp(arrays), before);
}

TEST(Bench, SecondsAreANumberInRange) {
  for (const char* seconds : {"nan", "inf", "-1", "1e9", "x"})
    expect_refused(run_assay({"bench", softmax, "--seconds", seconds}), {"--seconds"});
}

TEST(Replay, WritesNothingThatATerminalObeys) {
  const TemporaryFolder folder;
  std::string text = slurp(no_max);
  text.replace(text.find("expect = "), std::string("expect = ").size(), "expect = fail \x1b[31m");
  const ProgramRun run = run_assay({"replay", folder.write("a.case", text)});
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_THAT(run.out, ::testing::HasSubstr("?[31m"));
  EXPECT_THAT(run.out, ::testing::Not(::testing::HasSubstr("\x1b")));
}

TEST(Manifest, AParameterThatIsInfiniteInItsTypeIsRefused) {
  const TemporaryFolder folder;
  folder.write("rmsnorm.cu", slurp("kernels/rmsnorm/rmsnorm.cu"));
  const std::string manifest =
      folder.write("kernel.toml", slurp("kernels/rmsnorm/kernel.toml") + "\n[params]\neps = 1e300\n");
  expect_refused(run_assay({"verify", manifest}), {manifest + ":", "'eps'", "1e+300"});
}

TEST(Outputs, AFolderToWriteIntoIsMadeAndToldOf) {
  const TemporaryFolder folder;
  const ProgramRun run = run_assay({"corpus", "add", no_max, "--corpus", folder / "mine"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_TRUE(fs::exists(folder / "mine/softmax_no_max"));
  const ProgramRun full = run_assay({"replay", no_max, "--json", "/dev/full"});
  EXPECT_EQ(full.exit, 4) << full.err; // nobody could know
}

} // namespace
} // namespace assay::testing
