// What strangers give: each is refused with exit code 2 and one clear line that says what and where, and
// nothing is left half-written.
#include "tests/bad_input/refused.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

// --- the command line ---

struct Usage {
  const char* name;
  std::vector<std::string> args;
  std::string says;
};

class BadUsage : public ::testing::TestWithParam<Usage> {};

TEST_P(BadUsage, IsRefused) { expect_refused(run_assay(GetParam().args), {GetParam().says}); }

const std::string softmax = "kernels/softmax/kernel.toml";

INSTANTIATE_TEST_SUITE_P(
    CommandLine, BadUsage,
    ::testing::Values(
        Usage{"NoCommand", {}, "subcommand"}, Usage{"UnknownCommand", {"fuzzz"}, "fuzzz"},
        Usage{"UnknownOption", {"fuzz", softmax, "--tmie", "5"}, "--tmie"},
        Usage{"NoKernel", {"fuzz"}, "kernel"},
        Usage{"MissingKernel", {"fuzz", "kernels/none/kernel.toml"}, "kernels/none/kernel.toml"},
        Usage{"FolderWithoutKernel", {"fuzz", "harness"}, "kernel.toml"},
        Usage{"OneOfTwoMissing", {"fuzz", softmax, "none.toml"}, "none.toml"},
        Usage{"TimeWithoutUnit", {"fuzz", softmax, "--time", "5d"}, "5d"},
        Usage{"TimeZero", {"fuzz", softmax, "--time", "0"}, "--time"},
        Usage{"RunsZero", {"fuzz", softmax, "--runs", "0"}, "--runs"},
        Usage{"RunsNegative", {"fuzz", softmax, "--runs", "-3"}, "--runs"},
        Usage{"RunsTooLarge", {"fuzz", softmax, "--runs", "99999999999999999999999"}, "2^64 - 1"},
        Usage{"RunsNoNumber", {"fuzz", softmax, "--runs", "many"}, "many"},
        Usage{"SeedNoNumber", {"fuzz", softmax, "--seed", "x"}, "x"},
        Usage{"JobsZero", {"fuzz", softmax, "--jobs", "0"}, "jobs"},
        Usage{"JobsHuge", {"fuzz", softmax, "--jobs", "100000"}, "jobs"},
        Usage{"Device", {"fuzz", softmax, "--device", "gpu"}, "gpu"},
        Usage{"DeviceNumber", {"fuzz", softmax, "--device", "cuda:x"}, "cuda:x"},
        Usage{"FlagOfLibFuzzersOwnForking", {"fuzz", softmax, "--", "-fork=2"}, "-fork=2"},
        Usage{"FlagThatCleansACrash", {"fuzz", softmax, "--", "-cleanse_crash=1"}, "-cleanse_crash=1"},
        Usage{"FlagThatMergesACover", {"fuzz", softmax, "--", "-set_cover_merge=1"}, "-set_cover_merge=1"},
        Usage{"FlagThatLibFuzzerLacks", {"fuzz", softmax, "--", "-nonsense=1"}, "-nonsense"},
        Usage{"FlagThatIsAnOptionOfOurs", {"fuzz", softmax, "--", "-runs=20"}, "--runs"},
        Usage{"FlagOfWhichNoNumberIsGiven",
              {"fuzz", softmax, "--", "-len_control=abc"},
              "from 0 to 2147483647"},
        Usage{"FlagThatNeverDrawsACase", {"fuzz", softmax, "--", "-mutate_depth=0"}, "from 1 to"},
        Usage{"FlagOfTooLongACase", {"fuzz", softmax, "--", "-max_len=1000000000"}, "from 0 to 32768"},
        Usage{"FlagWithoutAValue", {"fuzz", softmax, "--", "-runs"}, "-runs"},
        Usage{"WordBehindDashes", {"fuzz", softmax, "--", "more"}, "more"},
        Usage{"OutBelowAFile", {"fuzz", softmax, "--runs", "1", "--out", "README.md/out"}, "README.md/out"},
        Usage{"CorpusIsAFile",
              {"fuzz", softmax, "--runs", "1", "--out", "build/bad-input-out", "--corpus", "README.md"},
              "README.md"},
        Usage{"JsonInNoFolder",
              {"fuzz", softmax, "--runs", "1", "--out", "build/bad-input-out", "--json", "README.md/x.json"},
              "README.md"},
        Usage{"ReplayNothing", {"replay"}, "path"},
        Usage{"ReplayMissing", {"replay", "none.case"}, "none.case"},
        Usage{"ReplayFolderWithoutCases", {"replay", "harness"}, "harness"},
        Usage{"ReplayKernelMissing", {"replay", "none.case", "--kernel", "none.toml"}, "none.toml"},
        Usage{"ExplainMissing", {"explain", "none.case"}, "none.case"},
        Usage{"ExplainFolder", {"explain", "kernels"}, "kernels"},
        Usage{"MinimizeMissing", {"minimize", "none.case"}, "none.case"},
        Usage{"ListUnknown", {"list", "everything"}, "everything"}),
    [](const auto& test) { return test.param.name; });

TEST(Environment, NoSuchDeviceIsExitCode4) {
  const ProgramRun run = run_assay({"fuzz", softmax, "--device", "cuda:99"});
  EXPECT_EQ(run.exit, 4) << run.err;
  expect_one_line(run, {"cuda"});
}

// --- manifests and sources ---

struct Edit {
  const char* name;
  std::string file; // of the kernel's folder
  std::string from, to;
  std::vector<std::string> says;
};

class BadKernel : public ::testing::TestWithParam<Edit> {};

TEST_P(BadKernel, IsRefused) {
  const Edit& edit = GetParam();
  const TemporaryFolder folder;
  const fs::path manifest = copy_kernel("softmax", folder);
  const fs::path edited = manifest.parent_path() / edit.file;
  const std::string text = slurp(edited);
  folder.write("kernels/softmax/" + edit.file,
               edit.from.empty() ? edit.to : replaced(text, edit.from, edit.to));
  const ProgramRun run = run_assay({"fuzz", manifest.string(), "--runs", "20", "--jobs", "1", "--out",
                                    folder / "out", "--json", folder / "fuzz.json"});
  expect_refused(run, edit.says);
  EXPECT_FALSE(fs::exists(folder / "out"));
  EXPECT_FALSE(fs::exists(folder / "fuzz.json"));
}

INSTANTIATE_TEST_SUITE_P(
    Manifest, BadKernel,
    ::testing::Values(
        Edit{"UnknownKey", "kernel.toml", "op  ", "colour = 3\nop  ", {"kernel.toml:1", "colour"}},
        Edit{"UnknownKeyOfALaunch",
             "kernel.toml",
             "block  = ",
             "blocks = 1\nblock  = ",
             {"kernel.toml:", "blocks"}},
        Edit{"UnknownKeyOfADim",
             "kernel.toml",
             "rows = { min = 1,",
             "rows = { mim = 2, min = 1,",
             {"kernel.toml:6", "mim"}},
        Edit{"WrongType", "kernel.toml", "grid   = [\"rows\"]", "grid   = 5", {"kernel.toml:", "grid"}},
        Edit{"NotToml", "kernel.toml", "[dims]", "[dims", {"kernel.toml:5"}},
        Edit{"UnknownOperator", "kernel.toml", "\"softmax\"", "\"softmaxx\"", {"kernel.toml:1", "softmaxx"}},
        Edit{"IncludeThatIsNoFolder",
             "kernel.toml",
             "[dims]",
             "include = [\"nowhere\"]\n[dims]",
             {"kernel.toml:5:", "there is no folder", "nowhere"}},
        Edit{"UnknownOption",
             "kernel.toml",
             "[dims]",
             "options = [\"--nonsense\"]\n[dims]",
             {"kernel.toml:5:", "does not take the options", "--nonsense"}},
        Edit{"OperatorHeaderMissing",
             "kernel.toml",
             "\"softmax\"",
             "\"none.h\"",
             {"kernel.toml:1:", "none.h is not there"}},
        Edit{"ExpressionOfAScreenful",
             "kernel.toml",
             "min(1024, ",
             "min(1024, " + std::string(3000, '('),
             {"kernel.toml:10", "..."}},
        Edit{"UnknownDtype", "kernel.toml", "\"bf16\"", "\"bf17\"", {"kernel.toml:3", "bf17"}},
        Edit{"NoDtype", "kernel.toml", "[\"f32\", \"f16\", \"bf16\"]", "[]", {"kernel.toml:3", "dtypes"}},
        Edit{"SourceMissing", "kernel.toml", "softmax.cu", "softmaxx.cu", {"softmaxx.cu"}},
        Edit{"TooFewArguments",
             "kernel.toml",
             "\"y\", \"cols\"]",
             "\"y\"]",
             {"kernel.toml:", "softmax_forward"}},
        Edit{"TooManyArguments",
             "kernel.toml",
             "\"cols\"]",
             "\"cols\", \"rows\"]",
             {"kernel.toml:", "softmax_forward"}},
        Edit{"ArgumentOfAnotherSize", "kernel.toml", "\"cols\"]", "\"cols:i64\"]", {"kernel.toml:", "cols"}},
        Edit{"ScalarForATensor", "kernel.toml", "\"y\", ", "\"rows\", ", {"kernel.toml:16", "'rows'"}},
        Edit{"UnknownArgument", "kernel.toml", "\"y\", ", "\"z\", ", {"kernel.toml:", "'z'"}},
        Edit{"KernelNotInTheSource",
             "kernel.toml",
             "softmax_forward",
             "softmax_backwards",
             {"kernel.toml:", "softmax.cu: no kernel", "softmax_backwards"}},
        Edit{"GridAbsurdlyLarge",
             "kernel.toml",
             "grid   = [\"rows\"]",
             "grid   = [\"rows * 9000000000\"]",
             {"kernel.toml", "the threads of softmax_forward", "at most"}},
        Edit{"DimNegative", "kernel.toml", "rows = { min = 1,", "rows = { min = -1,", {"kernel.toml:6"}},
        Edit{"DimZero", "kernel.toml", "max = 256", "max = 0", {"kernel.toml:6"}},
        Edit{"DimMissing", "kernel.toml", "rows = {", "rowz = {", {"kernel.toml:", "row"}},
        Edit{"DimAbsurdlyLarge",
             "kernel.toml",
             "{ min = 1, max = 256 }",
             "{ min = 1000000000000000, max = 1000000000000000 }",
             {"kernel.toml:6", "rows"}},
        Edit{"DimTooLargeForAnyCase",
             "kernel.toml",
             "{ min = 1, max = 256 }",
             "{ min = 2000000000, max = 2000000000 }",
             {"kernel.toml:6:"}},
        Edit{"ExpressionDoesNotParse", "kernel.toml", "min(1024, ", "min(1024 ", {"kernel.toml:10"}},
        Edit{"ExpressionOfAnUnknownName",
             "kernel.toml",
             "next_pow2(cols)",
             "next_pow2(colz)",
             {"kernel.toml:10", "colz"}},
        Edit{"ExpressionDividesByZero",
             "kernel.toml",
             "next_pow2(cols)",
             "cols / (rows - rows)",
             {"kernel.toml:10"}},
        Edit{"ToleranceOfTheWrongType",
             "kernel.toml",
             "[let]",
             "[tolerance]\nfudge = \"big\"\n[let]",
             {"kernel.toml:", "fudge"}},
        Edit{"NotUtf8", "kernel.toml", "\"softmax\"", "\"soft\xff\xfemax\"", {"kernel.toml"}},
        Edit{"Nul", "kernel.toml", "\"softmax\"", std::string("\"soft\0max\"", 10), {"kernel.toml"}},
        Edit{"Empty", "kernel.toml", "", "\n", {"kernel.toml"}},
        Edit{"Huge", "kernel.toml", "", std::string(std::size_t{80} << 20, '#'), {"kernel.toml", "larger"}}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Source, BadKernel,
    ::testing::Values(
        Edit{"SyntaxError", "softmax.cu", "float sum = 0.0f;", "float sum = 0.0f", {"softmax.cu:"}},
        Edit{"UnknownName", "softmax.cu", "fmaxf(largest", "fmaxg(largest", {"softmax.cu:", "fmaxg"}},
        Edit{"MissingInclude", "softmax.cu", "block_reduce.h", "none.h", {"softmax.cu:", "none.h"}},
        Edit{"Empty", "softmax.cu", "", "\n", {"softmax.cu: no kernel 'softmax_"}},
        Edit{"NotText",
             "softmax.cu",
             "",
             "\x7f"
             "ELF\x01\x02\xff\xfe\n",
             {"softmax.cu"}},
        Edit{"FailsForOneTypeOnly",
             "softmax.cu",
             "template <class T>",
             "template <class T> struct Only;\ntemplate <> struct Only<float> {};\ntemplate <> struct "
             "Only<__half> {};\n"
             "template <class T, class = decltype(Only<T>{})>",
             {"softmax"}}),
    [](const auto& test) { return test.param.name; });

// --- cases ---

const std::string good_case = R"(assay-case 1
kernel = kernels/softmax/kernel.toml
dtype = f32
pass = forward
schedule = 0
expect = pass

[dims]
rows = 2
cols = 3

[inputs]
x = normal(mean=0, stddev=1) seed 7
x[1,2] = 3.5

[tolerance]
fudge = 2
atol = 0
reference_limit = 0.1
flush_subnormals = false
)";

TEST(GoodCase, IsTheStartingPointOfTheBadOnes) {
  const TemporaryFolder folder;
  const ProgramRun run = run_assay({"replay", folder.write("a.case", good_case)});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
}

struct Text {
  const char* name;
  std::string text;
  std::vector<std::string> says;
};

class BadCase : public ::testing::TestWithParam<Text> {};

TEST_P(BadCase, IsRefusedByEveryCommand) {
  const TemporaryFolder folder;
  const std::string file = folder.write("bad.case", GetParam().text);
  std::vector<std::string> says = GetParam().says;
  says.push_back("bad.case");
  expect_refused(run_assay({"replay", file, "--json", folder / "x.json", "--junit", folder / "x.xml"}), says);
  expect_refused(run_assay({"explain", file}), says);
  expect_refused(run_assay({"minimize", file, "--out", folder / "small.case"}), says);
  expect_refused(run_assay({"corpus", "add", file, "--corpus", folder / "corpus"}), says);
  for (const char* written : {"x.json", "x.xml", "small.case", "corpus"})
    EXPECT_FALSE(fs::exists(folder / written)) << written;
}

INSTANTIATE_TEST_SUITE_P(
    Case, BadCase,
    ::testing::Values(
        Text{"Empty", "\n", {}}, Text{"NotACase", "hello\n", {":1"}},
        Text{"OtherVersion", replaced(good_case, "assay-case 1", "assay-case 2"), {":1"}},
        Text{"NoKernel", replaced(good_case, "kernel = kernels/softmax/kernel.toml\n", ""), {"kernel"}},
        Text{"KernelMissing",
             replaced(good_case, "kernels/softmax/kernel.toml", "kernels/none/kernel.toml"),
             {"kernels/none/kernel.toml"}},
        Text{"UnknownKey", replaced(good_case, "schedule", "scedule"), {":5", "scedule"}},
        Text{"UnknownSection", replaced(good_case, "[dims]", "[dimz]"), {":8"}},
        Text{"DimUnknown", replaced(good_case, "cols = 3", "colz = 3"), {"colz"}},
        Text{"DimMissing", replaced(good_case, "cols = 3\n", ""), {"cols"}},
        Text{"NoDims",
             replaced(good_case, "[dims]\nrows = 2\ncols = 3\n", ""),
             {":17", "dim rows is missing"}},
        Text{"NoInputs",
             replaced(good_case, "[inputs]\nx = normal(mean=0, stddev=1) seed 7\nx[1,2] = 3.5\n", ""),
             {":17", "input x is missing"}},
        Text{"DimTwice", replaced(good_case, "cols = 3", "rows = 3"), {":10", "rows"}},
        Text{"DimZero", replaced(good_case, "rows = 2", "rows = 0"), {"rows"}},
        Text{"DimNegative", replaced(good_case, "rows = 2", "rows = -2"), {"rows"}},
        Text{"DimAbsurd", replaced(good_case, "rows = 2", "rows = 99999999999999999999"), {":9"}},
        Text{"DimHuge", replaced(good_case, "rows = 2", "rows = 1000000000000"), {"rows"}},
        Text{"DimAboveTheManifests", replaced(good_case, "rows = 2", "rows = 257"), {"rows"}},
        Text{"DtypeUnknown", replaced(good_case, "dtype = f32", "dtype = f33"), {":3", "f33"}},
        Text{"DtypeOfAnotherKernel", replaced(good_case, "dtype = f32", "dtype = f64"), {"f64"}},
        Text{"PassUnknown", replaced(good_case, "forward", "sideways"), {":4", "sideways"}},
        Text{"PassThatTheKernelLacks",
             replaced(replaced(good_case, "forward", "backward"), "softmax/", "softmax_naive/"),
             {"backward"}},
        Text{"InputUnknown",
             replaced(replaced(good_case, "x = normal", "z = normal"), "x[1,2]", "z[1,2]"),
             {"z"}},
        Text{"DistributionUnknown", replaced(good_case, "normal(", "abnormal("), {":13", "abnormal"}},
        Text{"DistributionParameter", replaced(good_case, "stddev", "stdev"), {":13", "stdev"}},
        Text{"DistributionParameterNan", replaced(good_case, "stddev=1", "stddev=nan"), {":13"}},
        Text{"OverrideOutside", replaced(good_case, "x[1,2]", "x[2,2]"), {":14"}},
        Text{"OverrideOfAnotherRank", replaced(good_case, "x[1,2]", "x[1]"), {":14"}},
        Text{"OverrideTwice",
             replaced(good_case, "x[1,2] = 3.5\n", "x[1,2] = 3.5\nx[1, 2] = 4\n"),
             {":15", "x[1,2] was already given on line 14"}},
        Text{"OverrideNoNumber", replaced(good_case, "3.5", "much"), {":14", "much"}},
        Text{"ToleranceNegative", replaced(good_case, "fudge = 2", "fudge = -2"), {":17"}},
        Text{"ToleranceNan", replaced(good_case, "fudge = 2", "fudge = nan"), {":17"}},
        Text{"NotUtf8", replaced(good_case, "normal", "\xff\xfe"), {":13"}},
        Text{"Nul", replaced(good_case, "normal", std::string("no\0al", 5)), {":13"}},
        Text{"OneLongLine", std::string(900000, 'a'), {":1"}},
        Text{"Huge", std::string(std::size_t{3} << 20, '#'), {}}),
    [](const auto& test) { return test.param.name; });

TEST(BadFolder, UnreadableOneIsRefused) {
  const TemporaryFolder folder;
  folder.write("closed/a.case", good_case);
  fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::others_exec | fs::perms::others_read);
  fs::permissions(folder.path() / "closed", fs::perms::owner_all);
  const ProgramOptions options{.unprivileged = true};
  expect_refused(run_assay({"replay", folder / "closed"}, options), {"closed"});
  expect_refused(run_assay({"fuzz", softmax, "--runs", "1", "--out", folder / "closed"}, options),
                 {"closed"});
}

} // namespace
} // namespace assay::testing
