// Everything in README.md is run. Its ```console blocks are run in order, in one folder that holds the
// checkout's kernels and the files that the README shows; what they print must be what the README shows, but
// for numbers.
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <regex>
#include <sstream>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

struct Block {
  std::string language; // console, toml, cuda, ...
  std::string file;     // of a block that shows a file: the name in the line before it, as `path`:
  std::string text;
  int line = 0;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Block> blocks_of(const std::string& readme) {
  static const std::regex names_file(R"(^`([^`]+)`:$)");
  std::vector<Block> blocks;
  std::string last_text;
  bool inside = false;
  int number = 0;
  for (const std::string& line : lines_of(readme)) {
    ++number;
    if (line.starts_with("```")) {
      inside = !inside;
      if (!inside) last_text.clear();
      std::smatch match;
      if (inside)
        blocks.push_back({line.substr(3),
                          std::regex_match(last_text, match, names_file) ? match[1].str() : "", "", number});
    } else if (inside) {
      blocks.back().text += line + "\n";
    } else if (!line.empty()) {
      last_text = line;
    }
  }
  EXPECT_FALSE(inside) << "a block of README.md is not closed";
  return blocks;
}

// Numbers (and so whether it is one or several), hashes and the padding between columns differ from run to
// run.
std::vector<std::string> shape_of(const std::string& text) {
  static const std::regex hash("[0-9a-f]{16,}"), number(R"((-?\binf\b|-?\bnan\b|-?\d+(\.\d+)?(e[-+]?\d+)?))"),
      spaces(" +"), rule("-{3,}"), one("# (case|suspect|finding)\\b");
  std::vector<std::string> shape;
  for (std::string line : lines_of(text)) {
    line = std::regex_replace(line, hash, "#");
    line = std::regex_replace(line, number, "#");
    line = std::regex_replace(line, one, "# $1s");
    line = std::regex_replace(line, rule, "---");
    line = std::regex_replace(line, spaces, " ");
    while (line.ends_with(' ')) line.pop_back();
    if (!line.empty()) shape.push_back(line);
  }
  return shape;
}

// The README's minute is shortened.
std::string as_run(const std::string& command) {
  return std::regex_replace(command, std::regex("--time 60"), "--time 15 --seed 1");
}

// What a campaign prints, without the findings that a shorter one may miss: those of the numeric kinds.
std::string first_finding_only(const std::string& shown) {
  static const std::regex later("FINDING (gate|bias) .*|(gate|bias) .*");
  std::string kept;
  bool skipping = false;
  for (const std::string& line : lines_of(shown)) {
    skipping = std::regex_match(line, later) || (skipping && line.starts_with("  "));
    if (!skipping) kept += line + "\n";
  }
  return kept;
}

// Where this machine's Python has no Triton, what the README's export would make is taken from here, as made
// of the very kernel that the README shows.
bool stands_in_for_triton(const std::string& command, const TemporaryFolder& folder) {
  static const bool triton = run_program("/bin/sh", {"-c", "python3 -c 'import triton' 2>&1"}).exit == 0;
  if (triton || !command.starts_with("python3 tools/triton_export.py ")) return false;
  const fs::path made = checkout() / "tests/end_to_end/triton";
  EXPECT_EQ(slurp(made / "block_softmax.py"), slurp(folder.path() / "block_softmax/block_softmax.py"));
  const std::string ptx = slurp(made / "block_softmax.ptx");
  const std::string options =
      command.substr(command.find(" --kernel"), command.find(" --op") - command.find(" --kernel"));
  const std::string as_made = std::regex_replace(options, std::regex("', '|, "), ",");
  EXPECT_THAT(ptx, ::testing::HasSubstr("// block_softmax.py" + as_made)) << "made by another command";
  folder.write("block_softmax/block_softmax.ptx", ptx);
  folder.write("block_softmax/kernel.toml", slurp(made / "kernel.toml"));
  std::printf("no Triton for python3 here: what it would have made is taken as stored\n");
  return true;
}

TEST(Readme, EveryCommandPrintsWhatIsShown) {
  const TemporaryFolder folder;
  for (const char* name : {"kernels", "tools", "corpus"})
    fs::create_symlink(checkout() / name, folder.path() / name);
  const std::vector<Block> blocks = blocks_of(slurp(checkout() / "README.md"));
  int commands = 0;
  for (const Block& block : blocks) {
    if (!block.file.empty()) folder.write(block.file, block.text);
    if (block.language != "console") continue;
    const std::vector<std::string> lines = lines_of(block.text);
    for (std::size_t at = 0; at < lines.size();) {
      ASSERT_TRUE(lines[at].starts_with("$ ")) << "README.md:" << block.line << ": no command";
      const std::string command = lines[at].substr(2);
      std::string shown;
      for (++at; at < lines.size() && !lines[at].starts_with("$ "); ++at) shown += lines[at] + "\n";
      if (command.starts_with("tools/check") || command.starts_with("git clone") ||
          command.starts_with("cd ") || command.starts_with("python3 -m pip ") ||
          stands_in_for_triton(command, folder))
        continue;
      SCOPED_TRACE("README.md:" + std::to_string(block.line) + ": " + command);
      const std::string program =
          std::regex_replace(as_run(command), std::regex("tools/assay"), ASSAY_PROGRAM_PATH);
      ProgramRun run = run_program("/bin/sh", {"-c", program}, {.folder = folder.path()});
      // Commands are printed as the program was called.
      run.out = std::regex_replace(run.out, std::regex(ASSAY_PROGRAM_PATH), "tools/assay");
      ASSERT_LE(run.exit, 1) << run.err;
      ASSERT_FALSE(shown.empty());
      if (command.find(" fuzz ") != std::string::npos)
        EXPECT_THAT(shape_of(run.out), ::testing::IsSupersetOf(shape_of(first_finding_only(shown))))
            << run.out << run.err;
      else
        EXPECT_THAT(shape_of(run.out), ::testing::ElementsAreArray(shape_of(shown))) << run.out << run.err;
      ++commands;
    }
  }
  EXPECT_GE(commands, 5);
}

} // namespace
} // namespace assay::testing
