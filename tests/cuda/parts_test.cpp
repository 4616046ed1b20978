// The CUDA device's small parts: what PTX says of a program, the compiler's log, the cubin cache, faults.
#include "harness/base/files.h"
#include "harness/compile/cubin_cache.h"
#include "harness/device/cuda/fault.h"
#include "harness/device/cuda/program.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace assay::cuda {
namespace {

TEST(PtxTraits, TrapsAreInstructionsNotNames) {
  EXPECT_TRUE(traits_of(".entry k()\n{\n\ttrap;\n}\n").traps);
  EXPECT_TRUE(traits_of(".entry k()\n{\n\t@%p1 trap;\n}\n").traps);
  EXPECT_FALSE(traits_of(".entry trap()\n{\n\tret; // trap;\n}\n").traps);
  EXPECT_FALSE(traits_of(".entry k()\n{\n\tbra $trap_1;\n}\n").traps);
}

TEST(PtxTraits, TheHeapIsUsedWhereMallocIsDeclared) {
  EXPECT_TRUE(traits_of(".extern .func  (.param .b64 func_retval0) malloc\n(\n.param .b64 a\n)\n;\n").heap);
  EXPECT_FALSE(traits_of(".extern .func  (.param .b32 func_retval0) vprintf\n(\n.param .b64 a\n)\n;\n").heap);
}

TEST(CompilerLog, NamesItsLine) {
  EXPECT_EQ(line_of_log("ptxas application ptx input, line 23; fatal   : Parsing error near '.foo'"), 23);
  EXPECT_EQ(line_of_log("ptxas fatal   : Ptx assembly aborted due to errors"), 0);
}

TEST(Faults, StatusesAreToldApart) {
  EXPECT_EQ(kind_of(700, false), Kind::out_of_bounds);
  EXPECT_EQ(kind_of(716, false), Kind::misaligned);
  EXPECT_EQ(kind_of(710, false), Kind::trap);
  EXPECT_EQ(kind_of(719, true), Kind::trap);
  EXPECT_EQ(kind_of(719, false), Kind::out_of_bounds);
  EXPECT_EQ(kind_of(702, false), Kind::timeout);
  EXPECT_EQ(kind_of(999, false), std::nullopt); // unknown: nothing that a kernel is accused of
  EXPECT_TRUE(is_refused_launch(701));
  EXPECT_FALSE(is_refused_launch(700));
}

class CubinCache : public ::testing::Test {
 protected:
  TemporaryFolder folder;
  const std::filesystem::path& dir = folder.path();
};

TEST_F(CubinCache, GivesBackWhatWasStoredUnderItsKeyAlone) {
  const std::string key = cubin_key("ptx", "sm_90", 13000);
  const std::string cubin("\0\x7f\nELF", 6);
  EXPECT_FALSE(cubin_cache(dir).load(key));
  cubin_cache(dir).store(key, cubin);
  EXPECT_EQ(cubin_cache(dir).load(key), cubin);
  for (const std::string& other : {cubin_key("ptx ", "sm_90", 13000), cubin_key("ptx", "sm_80", 13000),
                                   cubin_key("ptx", "sm_90", 12080)}) {
    EXPECT_NE(other, key);
    EXPECT_FALSE(cubin_cache(dir).load(other));
  }
}

TEST_F(CubinCache, ADamagedFileIsAMiss) {
  const std::string key = cubin_key("ptx", "sm_90", 13000);
  cubin_cache(dir).store(key, "cubin");
  auto text = read_file(cubin_cache(dir).file_of(key));
  ASSERT_TRUE(text);
  text->back() ^= 1;
  ASSERT_TRUE(write_file(cubin_cache(dir).file_of(key), *text));
  EXPECT_FALSE(cubin_cache(dir).load(key));
  ASSERT_TRUE(write_file(cubin_cache(dir).file_of(key), "rubbish"));
  EXPECT_FALSE(cubin_cache(dir).load(key));
}

} // namespace
} // namespace assay::cuda
