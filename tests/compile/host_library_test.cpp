#include "harness/compile/host_library.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(HostError, IsToldAtTheUsersLine) {
  const Error error = host_error("my_op.h:12:7: error: no member named 'laod' in 'Line'\n"
                                 "1 error generated.\n",
                                 "my_op.h");
  EXPECT_EQ(to_string(error), "my_op.h:12:7: no member named 'laod' in 'Line'");
  EXPECT_EQ(error.kind, ErrorKind::user);
}

TEST(HostError, WithinOurHeadersIsToldWhereTheUsersLineLedThere) {
  const Error error = host_error("/src/harness/ops/line.h:100:3: error: invalid operands\n"
                                 "/src/harness/ops/plain.h:9:1: note: in instantiation of f\n"
                                 "dir/my_op.h:30:19: note: in instantiation of g\n"
                                 "<stdin>:4:2: note: requested here\n",
                                 "dir/my_op.h");
  EXPECT_EQ(to_string(error), "dir/my_op.h:30:19: invalid operands");
}

TEST(HostError, WithoutALineOfTheUsersIsToldAtTheHeader) {
  const Error error =
      host_error("<stdin>:40:3: error: no type named 'MyOp' in namespace 'assay'\n", "my_op.h");
  EXPECT_EQ(to_string(error), "my_op.h: no type named 'MyOp' in namespace 'assay'");
}

TEST(HostError, KnowsAHeaderThatTheCompilerCallsByItsFolder) {
  const Error error =
      host_error("./ops/my_op.h:12:7: error: no member named 'laod' in 'Line'\n", "ops/my_op.h");
  EXPECT_EQ(to_string(error), "ops/my_op.h:12:7: no member named 'laod' in 'Line'");
}

TEST(HostLibrary, WithoutACompilerSaysWhatToInstall) {
  const TemporaryFolder folder;
  HostLibraryRequest request;
  request.header = folder.write("op.h", "");
  request.compiler = folder / "clang++";
  const auto library = host_library(request, folder.path());
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, ErrorKind::environment);
  EXPECT_NE(library.error().message.find("install Debian's package clang-"), std::string::npos);
}

} // namespace
} // namespace assay
