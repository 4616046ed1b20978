// assay corpus: folders of cases kept small and whole.
#include "harness/store/corpus.h"

#include "fuzz/open_device.h"
#include "harness/base/files.h"
#include "harness/base/hash.h"
#include "harness/base/scratch_folder.h"
#include "harness/cases/manifest.h"
#include "harness/report/table.h"
#include "harness/run/replay.h"
#include "harness/store/finding_store.h"
#include "tools/campaign_folder.h"
#include "tools/case_file.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/manifest_path.h"
#include "tools/merge.h"
#include "tools/output_file.h"
#include "tools/prune.h"
#include "tools/text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

namespace assay {

namespace fs = std::filesystem;

namespace {

struct AddArguments {
  std::vector<std::string> findings;
  std::string corpus = "corpus";
};

struct AddedCase {
  std::string text, kernel; // the kernel's name
  fs::path from;
};

// Refused for what replaying it would be refused for, before it is run.
Result<AddedCase> case_to_add(const fs::path& file, KernelCache& kernels) {
  ASSAY_TRY(const Case test_case, load_case(file));
  ASSAY_TRY(const fs::path manifest, find_manifest(test_case, file));
  ASSAY_TRY(Kernel * kernel, kernels.get(manifest));
  ASSAY_TRY_VOID(kernel->plan(test_case));
  return AddedCase{to_text(test_case), kernel->manifest().name, file};
}

// corpus/<kernel>/<signature>.case: a finding's folder is named by its signature; any other file keeps its
// name.
Outcome run_add(const AddArguments& arguments) {
  ASSAY_TRY(const auto files, case_files(arguments.findings));
  ASSAY_TRY_VOID(check_output_folder(arguments.corpus));
  ASSAY_TRY(const auto device, open_loading_device(default_device()));
  KernelCache kernels(*device);
  std::vector<AddedCase> cases; // all are read before the first is written
  for (const fs::path& file : files) {
    ASSAY_TRY(AddedCase added, case_to_add(file, kernels));
    cases.push_back(std::move(added));
  }
  ASSAY_TRY_VOID(make_output_folder(arguments.corpus));
  for (const AddedCase& added : cases)
    ASSAY_TRY_VOID(check_output_folder(fs::path(arguments.corpus) / added.kernel));
  for (const AddedCase& added : cases) {
    const std::string name = name_of_case(added.from);
    fs::path to = fs::path(arguments.corpus) / added.kernel / (name + ".case");
    std::error_code ec;
    if (fs::exists(to, ec)) {
      ASSAY_TRY(const std::string there, read_file(to));
      if (there == added.text) {
        fmt::print("{} is there already\n", to.string());
        continue;
      }
      to.replace_filename(fmt::format("{}-{}.case", name, content_hash(added.text).substr(0, 8)));
    }
    ASSAY_TRY_VOID(write_file(to, added.text));
    fmt::print("added {}\n", to.string());
  }
  return 0;
}

struct MergeArguments {
  std::string kernel, into;
  std::vector<std::string> from;
  std::string device;
};

Result<void> check_folders(std::span<const std::string> folders) {
  for (const std::string& folder : folders) {
    std::error_code ec;
    if (!fs::is_directory(folder, ec)) return user_error(Place{folder}, "is no folder");
    ASSAY_TRY_VOID(Corpus(folder).files());
  }
  return {};
}

Outcome run_merge(const MergeArguments& arguments) {
  ASSAY_TRY(const fs::path manifest, resolve_manifest(arguments.kernel));
  ASSAY_TRY_VOID(check_folders(arguments.from));
  ASSAY_TRY(const auto before, Corpus(arguments.into).files());
  ASSAY_TRY_VOID(make_output_folder(arguments.into));
  ASSAY_TRY_VOID(merge_corpora(manifest, arguments.device, arguments.into, arguments.from));
  ASSAY_TRY_VOID(mend_corpus(arguments.into)); // libFuzzer takes what is no case, too
  ASSAY_TRY(const auto after, Corpus(arguments.into).files());
  fmt::print("{}: {} added, {} now\n", arguments.into, counted(after.size() - before.size(), "unit"),
             after.size());
  return 0;
}

Outcome run_prune(const MergeArguments& arguments) {
  ASSAY_TRY(const fs::path manifest, resolve_manifest(arguments.kernel));
  ASSAY_TRY_VOID(check_folders({&arguments.into, 1}));
  ASSAY_TRY_VOID(check_output_folder(arguments.into));
  ASSAY_TRY(const ScratchFolder merged, ScratchFolder::create("prune"));
  ASSAY_TRY_VOID(merge_corpora(manifest, arguments.device, merged.path(), {&arguments.into, 1}));
  ASSAY_TRY(const Pruned pruned, keep_merged(arguments.into, merged.path()));
  std::error_code ec;
  if (fs::is_empty(merged.path(), ec) && pruned.kept > 0) // what is no case has been removed from it
    return user_error(Place{arguments.into}, "holds no case of {}; nothing was removed", manifest.string());
  fmt::print("{}: {} removed, {} kept\n", arguments.into, counted(pruned.removed, "unit"), pruned.kept);
  return 0;
}

struct Stats {
  std::size_t units = 0, broken = 0, forward = 0, backward = 0, fails = 0;
  std::uintmax_t bytes = 0;
  std::set<std::string> dtypes;
};

// The kernel's own name, where its manifest can be read, else the folder's or the name that the case gives.
std::string kernel_name(const Case& test_case) {
  if (const auto manifest = load_manifest(test_case.manifest)) return manifest->name;
  const fs::path named = test_case.manifest;
  return named.extension() == ".toml" ? named.parent_path().filename().string() : named.filename().string();
}

Outcome run_stats(const std::vector<std::string>& folders) {
  ASSAY_TRY_VOID(check_folders(folders));
  std::map<std::string, Stats> kernels;
  std::vector<std::string> broken;
  for (const std::string& folder : folders) {
    ASSAY_TRY(const auto files, Corpus(folder).files());
    for (const fs::path& file : files) {
      const bool unit = is_kept_by_a_search(file);
      if (!unit && file.extension() != ".case") continue;
      const auto text = read_file(file);
      const auto test_case = text ? parse_case(*text, file.string()) : std::unexpected(text.error());
      if (!test_case) {
        broken.push_back(to_string(test_case.error()));
        continue;
      }
      Stats& stats = kernels[kernel_name(*test_case)];
      ++stats.units;
      stats.bytes += text->size();
      ++(test_case->pass == Pass::forward ? stats.forward : stats.backward);
      if (!test_case->expect.pass) ++stats.fails;
      stats.dtypes.insert(std::string(name_of(test_case->dtype)));
    }
  }
  using Align = Table::Align;
  Table table({{"kernel"},
               {"cases", Align::right},
               {"bytes", Align::right},
               {"forward", Align::right},
               {"backward", Align::right},
               {"expected to fail", Align::right},
               {"types"}});
  for (const auto& [kernel, stats] : kernels)
    table.add({kernel, std::to_string(stats.units), std::to_string(stats.bytes),
               std::to_string(stats.forward), std::to_string(stats.backward), std::to_string(stats.fails),
               fmt::format("{}", fmt::join(stats.dtypes, " "))});
  if (kernels.empty() && broken.empty()) return user_error(Place{folders.front()}, "holds no case");
  if (!kernels.empty()) fmt::print("{}", table.text());
  for (const std::string& line : broken) fmt::print("broken: {}\n", line);
  return broken.empty() ? 0 : exit_code(ErrorKind::user);
}

} // namespace

void add_corpus(CLI::App& app, Invocation& invocation) {
  CLI::App* corpus = app.add_subcommand("corpus", "keep corpora: add, merge, prune, stats");
  corpus->footer("Example: assay corpus stats corpus");
  corpus->require_subcommand(1);

  auto added = std::make_shared<AddArguments>();
  CLI::App* add = corpus->add_subcommand("add", "copy minimized cases into corpus/<kernel>/");
  add->add_option("finding", added->findings, "a case, a finding's folder, or a folder of findings")
      ->option_text("FINDING ...")
      ->required();
  add->add_option("--corpus", added->corpus, "the corpora's folder; corpus otherwise")->option_text("DIR");
  add->footer("Example: assay corpus add findings/softmax_naive --corpus my_corpus");
  add->callback([added, &invocation] { invocation.outcome = run_add(*added); });

  const auto kernel_and_folder = [](CLI::App* command, MergeArguments& arguments) {
    command->add_option("kernel", arguments.kernel, "the kernel whose cases they are")
        ->option_text("KERNEL.toml")
        ->required();
    command->add_option("corpus", arguments.into, "the corpus's folder")->option_text("DIR")->required();
    add_device(*command, arguments.device, "cpu");
  };
  auto merged = std::make_shared<MergeArguments>();
  CLI::App* merge = corpus->add_subcommand(
      "merge", "add to a corpus what other folders hold that covers more or errs otherwise");
  kernel_and_folder(merge, *merged);
  merge->add_option("from", merged->from, "folders of cases")->option_text("FROM ...")->required();
  merge->footer("Example: assay corpus merge kernels/softmax/kernel.toml my_corpus findings/softmax/corpus");
  merge->callback([merged, &invocation] { invocation.outcome = run_merge(*merged); });

  auto pruned = std::make_shared<MergeArguments>();
  CLI::App* prune = corpus->add_subcommand(
      "prune", "remove what a search kept and others now cover; files that people named stay");
  kernel_and_folder(prune, *pruned);
  prune->footer("Example: assay corpus prune kernels/softmax/kernel.toml my_corpus");
  prune->callback([pruned, &invocation] { invocation.outcome = run_prune(*pruned); });

  auto folders = std::make_shared<std::vector<std::string>>();
  CLI::App* stats = corpus->add_subcommand("stats", "what corpora hold, and which files are broken");
  stats->add_option("corpus", *folders, "folders of cases")->option_text("DIR ...")->required();
  stats->footer("Example: assay corpus stats corpus");
  stats->callback([folders, &invocation] { invocation.outcome = run_stats(*folders); });
}

} // namespace assay
