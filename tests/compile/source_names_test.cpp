#include "harness/compile/source_names.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using testing::ElementsAre;

TEST(SourceNames, FilesInOptions) {
  const OptionFiles files =
      files_in_options({"-Ia", "-I=b", "-I", "c", "--include-path=d", "--include-path", "e", "-include",
                        "f.h", "--pre-include=g.h", "-DI=2", "--use_fast_math", "-I"});
  EXPECT_THAT(files.include_dirs, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(files.included, ElementsAre("f.h", "g.h"));
}

TEST(SourceNames, FileDirectivesReadAsTheUserWrote) {
  const std::string here = std::filesystem::current_path().string();
  const std::string other = "\t.file\t3 \"/usr/include/x.h\"\n\tadd.f32 \"" + here + "/kernels/a/a.cu\"";
  EXPECT_EQ(with_names_as_written("\t.file\t1 \"" + here + "/kernels/a/a.cu\"\n\t.file\t2 \"" + here +
                                      "/kernels/a/../own.h\"\n" + other,
                                  {"kernels/a/a.cu", "kernels/a/../own.h"}),
            "\t.file\t1 \"kernels/a/a.cu\"\n\t.file\t2 \"kernels/own.h\"\n" + other);
  EXPECT_EQ(with_names_as_written("", {}), "");
  EXPECT_EQ(with_names_as_written(".file", {}), ".file");
}

} // namespace
} // namespace assay
