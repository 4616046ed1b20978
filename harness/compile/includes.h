// Which of the user's own files a source includes, so that the cache notices when one of them changes. NVRTC
// does not say what it read, so the #include lines are followed here before anything is compiled. The scan
// takes every #include and __has_include outside comments, whatever #if surrounds it: it may find more files
// than the compiler reads (a needless recompilation), never fewer, except for names made by macros, which it
// reports.
#pragma once

#include "harness/base/error.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct IncludedFile {
  std::filesystem::path path; // as found: the folder that held it / the name in the #include
  std::string text;
};

struct IncludeScan {
  std::vector<IncludedFile> files; // each once, in the order in which they are met
  std::set<std::string> names;     // every name included that is one of `files`, as written
  bool computed = false;           // #include MACRO or #include_next: what it reads is not known
  std::optional<Error> no_file; // a user error at the first #include of a device or a pipe, which a compiler
                                // would read for ever
};

// One name in a text: "own.h" (quoted) or <own.h>.
struct IncludeName {
  std::string name;
  bool quoted = false;
};

// The includes of one text, without following them; `computed` is set where one is not a literal name.
std::vector<IncludeName> includes_of(std::string_view text, bool& computed);

// Follows them: a quoted name is looked for beside the including file, then every name in `dirs`, as NVRTC
// does. Names found nowhere are the toolkit's, or the compiler will complain.
IncludeScan scan_includes(const std::filesystem::path& source, std::string_view text,
                          const std::vector<std::filesystem::path>& dirs);

// A content hash of a source and of the files that it includes, wherever they lie: a changed header is a
// changed kernel. Of a source without any it is the hash of its text.
std::string hash_with_includes(std::string_view text, const IncludeScan& scan);

} // namespace assay
