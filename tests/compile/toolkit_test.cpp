// Finding NVRTC, and saying what is missing where it is not.
#include "harness/compile/nvrtc_library.h"
#include "harness/compile/toolkit.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using testing::HasSubstr;

void write_headers(const TemporaryFolder& folder, const std::string& root) {
  for (const char* header : {"cuda_runtime.h", "cuda_fp16.h", "crt/mma.h", "cccl/cuda/std/cstdint"})
    folder.write(root + "/include/" + header, "");
}

TEST(FindToolkit, TheNewestLibraryOfTheFirstCompleteRoot) {
  const TemporaryFolder folder;
  folder.write("a/lib64/libnvrtc.so.13", ""); // no headers
  write_headers(folder, "b");
  for (const char* name :
       {"libnvrtc.so", "libnvrtc.so.12", "libnvrtc.so.9", "libnvrtc.so.12.8.61", "libnvrtc.so.x"})
    folder.write(std::string("b/lib/") + name, "");
  const Result<Toolkit> toolkit =
      find_toolkit({folder.path() / "none", folder.path() / "a", folder.path() / "b"});
  ASSERT_TRUE(toolkit) << to_string(toolkit.error());
  EXPECT_EQ(toolkit->library, folder.path() / "b/lib/libnvrtc.so.12");
  EXPECT_THAT(toolkit->include_dirs,
              testing::ElementsAre(folder.path() / "b/include", folder.path() / "b/include/cccl"));
}

TEST(FindToolkit, NothingThereSaysWhatToInstall) {
  const Result<Toolkit> toolkit = find_toolkit({"/nonexistent"});
  ASSERT_FALSE(toolkit);
  EXPECT_EQ(toolkit.error().kind, ErrorKind::environment);
  EXPECT_THAT(toolkit.error().message, HasSubstr("CUDA_HOME"));
  EXPECT_THAT(toolkit.error().message, HasSubstr("tools/assay"));
}

TEST(FindToolkit, AnIncompleteOneSaysWhatItLacks) {
  const TemporaryFolder folder;
  write_headers(folder, "old");
  folder.write("old/lib64/libnvrtc.so.11.2", "");
  std::filesystem::remove(folder.path() / "old/include/crt/mma.h");
  EXPECT_THAT(find_toolkit({folder.path() / "old"}).error().message,
              HasSubstr("has no libnvrtc.so.12 or newer"));
  folder.write("old/lib64/libnvrtc.so.12", "");
  EXPECT_THAT(find_toolkit({folder.path() / "old"}).error().message, HasSubstr("lacks crt/mma.h"));
}

TEST(LoadNvrtc, WhatIsNoLibraryIsAnEnvironmentError) {
  const TemporaryFolder folder;
  const Result<NvrtcLibrary> library = load_nvrtc({folder.write("libnvrtc.so.13", "not a library"), {}});
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, ErrorKind::environment);
}

TEST(ToolkitRoots, AnInstalledToolkitCanBeIgnored) {
  unsetenv("ASSAY_IGNORE_TOOLKIT"); // ctest gives every test a process of its own
  setenv("CUDA_HOME", "/some/toolkit", 1);
  EXPECT_THAT(toolkit_roots(), testing::Contains("/some/toolkit"));
  setenv("ASSAY_IGNORE_TOOLKIT", "1", 1);
  for (const std::filesystem::path& root : toolkit_roots())
    EXPECT_THAT(root.string(), HasSubstr("/build/cuda/nvidia/"));
}

} // namespace
} // namespace assay
