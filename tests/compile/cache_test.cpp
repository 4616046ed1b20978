// The disk cache: what hits, what misses, and that nothing broken is ever used.
#include "harness/base/files.h"
#include "harness/compile/compile.h"
#include "harness/compile/compile_cache.h"
#include "harness/compile/cubin_cache.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  Cache() {
    folder.write("src/own.h", "#include \"deeper/far.h\"\n");
    folder.write("src/deeper/far.h", "#define FAR 1\n");
    folder.write("common/lib.h", "#define LIB 1\n");
    request.path = folder.path() / "src/k.cu";
    request.text = "#include \"own.h\"\n#include <lib.h>\n"
                   "template <class T> __global__ void k(T* x) { x[0] = FAR + LIB; int unused; }\n";
    request.names = {"k<float>"};
    request.include_dirs = {folder.path() / "common"};
  }

  // Compiles with the cache; whether it hit.
  bool hits() {
    CompileReport report;
    const Result<PtxSource> ptx = compile(request, folder.path() / "cache", &report);
    EXPECT_TRUE(ptx) << to_string(ptx.error());
    if (ptx) last = *ptx;
    last_log = report.log;
    return report.cached;
  }

  fs::path only_entry() const {
    std::vector<fs::path> found;
    for (const auto& file : fs::recursive_directory_iterator(folder.path() / "cache"))
      if (file.is_regular_file()) found.push_back(file.path());
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? fs::path() : found.front();
  }

  TemporaryFolder folder;
  CompileRequest request;
  PtxSource last;
  std::string last_log;
};

TEST_F(Cache, TheSecondTimeHitsAndGivesTheSame) {
  EXPECT_FALSE(hits());
  const PtxSource first = last;
  const std::string first_log = last_log;
  EXPECT_TRUE(hits());
  EXPECT_EQ(last.text, first.text);
  EXPECT_EQ(last.origin, first.origin);
  EXPECT_EQ(last.entries, first.entries);
  EXPECT_EQ(last_log, first_log);
  EXPECT_THAT(last_log, testing::HasSubstr("unused"));
}

TEST_F(Cache, ForARealArchitectureThePtxIsTheSameAndMachineCodeLiesBesideIt) {
  const auto machine_code = [&] {
    return cubin_cache(folder.path() / "cache").load(cubin_key(last.text, "sm_90", 0));
  };
  EXPECT_FALSE(hits());
  const std::string text = last.text;
  EXPECT_FALSE(machine_code());
  request.arch = "sm_90";
  EXPECT_FALSE(hits());
  EXPECT_EQ(last.text, text);
  ASSERT_TRUE(machine_code());
  EXPECT_TRUE(machine_code()->starts_with("\x7f"
                                          "ELF"));
}

TEST_F(Cache, WhateverMattersMisses) {
  EXPECT_FALSE(hits());
  const CompileRequest original = request;
  const auto changed_misses = [&](auto change) {
    request = original;
    change(request);
    EXPECT_FALSE(hits());
    EXPECT_TRUE(hits());
  };
  changed_misses([](CompileRequest& r) { r.text += "\n"; });
  changed_misses([](CompileRequest& r) { r.names = {"k<int>"}; });
  changed_misses([](CompileRequest& r) { r.options = {"-DX"}; });
  changed_misses([](CompileRequest& r) { r.arch = "compute_80"; });
  changed_misses([](CompileRequest& r) { r.path = r.path.parent_path() / "other.cu"; });
  request = original;
  EXPECT_TRUE(hits());
}

TEST_F(Cache, AChangedIncludeMisses) {
  EXPECT_FALSE(hits());
  for (const char* name : {"src/own.h", "src/deeper/far.h", "common/lib.h"}) {
    const Result<std::string> text = read_file(folder.path() / name);
    ASSERT_TRUE(text);
    folder.write(name, *text + "// changed\n");
    EXPECT_FALSE(hits()) << name;
    EXPECT_TRUE(hits()) << name;
  }
}

TEST_F(Cache, ANearerFileOfTheSameNameMisses) {
  EXPECT_FALSE(hits());
  folder.write("src/lib.h", "#define LIB 2\n");
  EXPECT_FALSE(hits());
}

TEST_F(Cache, FilesNamedInOptionsCount) {
  folder.write("extra/pre.h", "#define PRE 1\n");
  folder.write("extra/more.h", "#define MORE 1\n");
  request.text += "#include <more.h>\nstatic_assert(PRE == 1 || PRE == 2, \"\");\n";
  request.options = {"-I" + (folder.path() / "extra").string(), "--pre-include=pre.h"};
  EXPECT_FALSE(hits());
  EXPECT_TRUE(hits());
  folder.write("extra/pre.h", "#define PRE 2\n");
  EXPECT_FALSE(hits());
  folder.write("extra/more.h", "#define MORE 2\n");
  EXPECT_FALSE(hits());
}

TEST_F(Cache, AComputedIncludeIsNeverCached) {
  request.text = "#define NAME <lib.h>\n#include NAME\n" + request.text;
  EXPECT_FALSE(hits());
  EXPECT_FALSE(hits());
}

TEST_F(Cache, ABrokenEntryIsAMiss) {
  EXPECT_FALSE(hits());
  const fs::path file = only_entry();
  const Result<std::string> good = read_file(file);
  ASSERT_TRUE(good);
  for (const std::size_t length : {std::size_t{0}, std::size_t{5}, good->size() / 2, good->size() - 1}) {
    ASSERT_TRUE(write_file(file, good->substr(0, length)));
    EXPECT_FALSE(hits()) << length;
  }
  for (std::size_t at = 0; at < good->size(); at += 97) {
    std::string bad = *good;
    bad[at] ^= 1;
    ASSERT_TRUE(write_file(file, bad));
    EXPECT_FALSE(cache_load(folder.path() / "cache", file.stem().string())) << at;
  }
  EXPECT_FALSE(hits()); // and mends it
  EXPECT_TRUE(hits());
  EXPECT_EQ(read_file(file).value(), *good);
}

TEST_F(Cache, AnEntryUnderAnotherKeyIsAMiss) {
  EXPECT_FALSE(hits());
  const fs::path file = only_entry();
  const std::string other = std::string(2, file.stem().string()[0]) + std::string(30, '0');
  fs::create_directories(ptx_cache(folder.path() / "cache").file_of(other).parent_path());
  fs::copy_file(file, ptx_cache(folder.path() / "cache").file_of(other));
  EXPECT_FALSE(cache_load(folder.path() / "cache", other));
}

TEST_F(Cache, AFailureIsNotCached) {
  request.text += "broken\n";
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(compile(request, folder.path() / "cache"));
  EXPECT_FALSE(fs::exists(folder.path() / "cache"));
}

TEST_F(Cache, ACacheThatCannotBeWrittenOnlyCostsTime) {
  folder.write("cache", "a file where the folder should be");
  EXPECT_FALSE(hits());
  EXPECT_FALSE(hits());
}

TEST(CacheEntry, AnyBytesSurvive) {
  const TemporaryFolder folder;
  const std::string key(32, 'a');
  const CacheEntry entry{std::string("ptx\0\n12\n", 8), "", {{"k<\n>", "m"}, {"", "\xff"}}};
  ASSERT_TRUE(cache_store(folder.path(), key, entry));
  EXPECT_EQ(cache_load(folder.path(), key), entry);
}

} // namespace
} // namespace assay
