#include "harness/compile/ptx_entries.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PtxEntries, FoundInAnyDress) {
  EXPECT_THAT(ptx_entries("// .entry no(\n/* .entry no2( */ .visible .entry a(\n.weak .entry\n  _Z1bv()\n"
                          ".entry $c%1 {\n.file 1 \".entry no3(\"\n.entryfoo d(\n.func e()"),
              ElementsAre("a", "_Z1bv", "$c%1"));
  for (const char* text : {"", ".entry", ".entry ", "/*", "//", "\"", "/", ".entry a"}) ptx_entries(text);
}

TEST(PtxEntries, DisplayNamesHaveNoParameterList) {
  EXPECT_EQ(entry_display_name("_Z7softmaxIfEvPKT_PS0_i"), "softmax<float>");
  EXPECT_EQ(entry_display_name("_ZN2ns4plusEPfi"), "ns::plus");
  EXPECT_EQ(entry_display_name("_Z5scaleI6__halfLi3EEvPT_"), "scale<__half, 3>");
  EXPECT_EQ(entry_display_name("_Z5applyIXadL_Z3addffEEEvPf"), "apply<&(add(float, float))>");
  EXPECT_EQ(entry_display_name("softmax_kernel"), "softmax_kernel");
  EXPECT_EQ(entry_display_name("z"), "z"); // in the mangled language a type
}

TEST(PtxEntries, AnEntryMayBeNamedEitherWay) {
  const std::vector<std::string> entries = {"_Z5scaleI6__halfLi3EEvPT_", "_Z4plusPfi", "_Z4plusPdi",
                                            "triton_"};
  EXPECT_EQ(find_entry(entries, "scale<__half,3>", "k.ptx").value(), entries[0]);
  EXPECT_EQ(find_entry(entries, "scale< __half, 3 >", "k.ptx").value(), entries[0]);
  EXPECT_EQ(find_entry(entries, "_Z4plusPdi", "k.ptx").value(), entries[2]);
  EXPECT_EQ(find_entry(entries, "triton_", "k.ptx").value(), entries[3]);
}

TEST(PtxEntries, AmbiguousAndUnknownNamesSayWhatThereIs) {
  const std::vector<std::string> entries = {"_Z4plusPfi", "_Z4plusPdi"};
  EXPECT_EQ(to_string(find_entry(entries, "plus", "k.ptx").error()),
            "k.ptx: 'plus' names 2 entries; write one of them: _Z4plusPfi, _Z4plusPdi");
  EXPECT_THAT(find_entry({"_Z3subPfi"}, "plus", "k.ptx").error().message, HasSubstr("it has sub"));
  EXPECT_EQ(to_string(find_entry({}, "plus", "k.ptx").error()), "k.ptx: no .entry in this PTX");
}

} // namespace
} // namespace assay
