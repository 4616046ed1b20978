#include "harness/base/hash.h"
#include "harness/compile/includes.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_in(std::string_view text, bool* computed = nullptr) {
  bool unknown = false;
  std::vector<std::string> names;
  for (const IncludeName& include : includes_of(text, unknown))
    names.push_back(include.quoted ? "\"" + include.name : "<" + include.name);
  if (computed != nullptr) *computed = unknown;
  return names;
}

TEST(Includes, BothFormsWithAnySpacing) {
  EXPECT_THAT(names_in("#include \"a.h\"\n  #  include<b/c.h>\r\n#include/*x*/\"d.h\" // e\n%:include <f.h>"),
              ElementsAre("\"a.h", "<b/c.h", "\"d.h", "<f.h"));
}

TEST(Includes, CommentsAndLiteralsHideThem) {
  EXPECT_THAT(
      names_in("// #include \"a.h\"\n/*\n#include \"b.h\"\n*/\nconst char* s = \"/*\";\n#include \"c.h\"\n"
               "const char* r = R\"x(\n#include \"d.h\"\n)x\";\nint n = 1'000;\n#include \"e.h\"\n"),
      ElementsAre("\"c.h", "\"e.h"));
}

TEST(Includes, SplicedLinesAreOne) {
  EXPECT_THAT(names_in("#inc\\\nlude \\\r\n \"a.h\"\n"), ElementsAre("\"a.h"));
}

TEST(Includes, DeadBranchesAndHasIncludeCount) {
  EXPECT_THAT(
      names_in(
          "#if 0\n#include \"a.h\"\n#endif\n#if __has_include(\"b.h\") && __has_include( <c.h>)\n#endif"),
      ElementsAre("\"a.h", "\"b.h", "<c.h"));
}

TEST(Includes, ComputedNamesAreReported) {
  bool computed = false;
  EXPECT_THAT(names_in("#include NAME\n", &computed), ElementsAre());
  EXPECT_TRUE(computed);
  names_in("#include_next <a.h>\n", &computed);
  EXPECT_TRUE(computed);
  names_in("#include <a.h>\n", &computed);
  EXPECT_FALSE(computed);
}

TEST(Includes, UnterminatedTextEnds) {
  for (const char* text : {"/*", "\"", "R\"x(", "#include \"", "#include <", "#include", "\\", "'", "#"})
    names_in(text);
}

TEST(Includes, ScanFollowsThemOnceAndInOrder) {
  const TemporaryFolder folder;
  folder.write("src/a.h", "#include \"b.h\"\n#include <lib.h>\n");
  folder.write("src/b.h", "#include \"a.h\"\n"); // a circle
  folder.write("lib/lib.h", "#include \"inner.h\"\n#include <cstdint>\n");
  folder.write("lib/inner.h", "");
  const IncludeScan scan = scan_includes(folder.path() / "src/k.cu", "#include \"a.h\"\n",
                                         {folder.path() / "src", folder.path() / "lib"});
  std::string found;
  for (const IncludedFile& file : scan.files)
    found += file.path.lexically_relative(folder.path()).string() + " ";
  EXPECT_EQ(found, "src/a.h src/b.h lib/lib.h lib/inner.h ");
  EXPECT_THAT(scan.names, ElementsAre("a.h", "b.h", "inner.h", "lib.h"));
  EXPECT_FALSE(scan.computed);
}

TEST(Includes, AChangedHeaderIsAChangedSourceWhereverBothLie) {
  const TemporaryFolder folder;
  const std::string text = "#include \"../common/a.h\"\n";
  const auto hash = [&](const std::string& at) {
    return hash_with_includes(text, scan_includes(folder.path() / at / "kernel/k.cu", text, {}));
  };
  for (const char* at : {"here", "there"}) {
    folder.write(std::string(at) + "/kernel/k.cu", text);
    folder.write(std::string(at) + "/common/a.h", "#include \"b.h\"\n");
    folder.write(std::string(at) + "/common/b.h", "constexpr int tile = 32;\n");
  }
  EXPECT_EQ(hash("here"), hash("there"));
  EXPECT_NE(hash("here"), content_hash(text));
  folder.write("there/common/b.h", "constexpr int tile = 64;\n");
  EXPECT_NE(hash("here"), hash("there"));
  EXPECT_EQ(hash_with_includes("int x;\n", scan_includes("k.cu", "int x;\n", {})), content_hash("int x;\n"));
}

} // namespace
} // namespace assay
