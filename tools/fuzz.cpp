// assay fuzz: arguments and verdict of a campaign.
#include "fuzz/check_kernel.h"
#include "fuzz/open_device.h"
#include "fuzz/status.h"
#include "harness/base/bounded_folder.h"
#include "harness/base/child_process.h"
#include "harness/compile/compile.h"
#include "harness/report/text.h"
#include "tools/campaign.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/duration.h"
#include "tools/manifest_path.h"
#include "tools/output_file.h"
#include "tools/prepare_kernel.h"
#include "tools/text.h"
#include "tools/whole_number.h"
#include "tools/worker_process.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

namespace assay {

namespace fs = std::filesystem;

namespace {

struct FuzzArguments {
  std::vector<std::string> kernels;
  std::string time, device, corpus, json;
  std::string program; // how it was called
  std::string out = "findings";
  std::optional<std::uint64_t> runs, seed;
  unsigned jobs = 0;
  std::uint64_t stop_after = 0;
  std::vector<std::string> libfuzzer_flags;
};

constexpr double default_seconds = 60;
constexpr std::uint64_t largest_cache = std::uint64_t{1} << 30; // bytes of compiled code and kept results

// "-runs" of " runs        -1      Number of individual test runs ...", as libFuzzer lists its flags.
Result<std::set<std::string, std::less<>>> libfuzzer_flags() {
  ASSAY_TRY(const fs::path program, find_worker_program());
  ASSAY_TRY(const ChildRun help, run_child(program, {"-help=1"}, {}, std::chrono::seconds(60)));
  std::set<std::string, std::less<>> names;
  std::istringstream lines(help.log + help.out);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(' ') && line.find('\t') != std::string::npos)
      names.insert("-" + line.substr(1, line.find_first_of(" \t", 1) - 1));
  if (names.empty()) return internal_error("{} -help=1 lists no flags", program.string());
  return names;
}

constexpr std::string_view libfuzzer_texts[] = {
    "-seed_inputs",  "-stop_file",       "-merge_control_file",  "-mutation_graph_file",
    "-dict",         "-artifact_prefix", "-exact_artifact_path", "-exit_on_src_pos",
    "-exit_on_item", "-focus_function",  "-data_flow_trace",     "-collect_data_flow"};

// libFuzzer takes any text for a number, and some numbers for what ends it or keeps it from ever beginning.
Result<void> check_libfuzzer_number(std::string_view name, std::string_view value) {
  std::uint64_t least = 0, most = std::numeric_limits<std::int32_t>::max();
  if (name == "-mutate_depth") least = 1;
  if (name == "-max_len") most = max_case_text;
  std::string text(value);
  const std::string wrong = whole_number(least, most)(text);
  if (wrong.empty()) return {};
  return user_error({}, "'{}={}' after --: {}", name, value, wrong);
}

// libFuzzer only warns of flags that it does not know; some would make a worker into something else.
Result<void> check_libfuzzer_flags(const std::vector<std::string>& flags) {
  if (flags.empty()) return {};
  ASSAY_TRY(const auto known, libfuzzer_flags());
  for (const std::string& flag : flags) {
    const std::size_t equals = flag.find('=');
    if (!flag.starts_with("-") || equals == std::string::npos)
      return user_error({}, "'{}' after -- is not a libFuzzer flag (-name=value)", flag);
    if (!known.contains(std::string_view(flag).substr(0, equals)))
      return user_error({}, "libFuzzer has no flag {}; assay-fuzz -help=1 lists them",
                        flag.substr(0, equals));
    for (const char* name : {"-fork=", "-jobs=", "-workers=", "-merge=", "-set_cover_merge=",
                             "-minimize_crash=", "-cleanse_crash=", "-help="})
      if (flag.starts_with(name))
        return user_error({}, "{} is not for a campaign's workers; give it to assay-fuzz itself", flag);
    for (const auto& [theirs, ours] : {std::pair{"-runs=", "--runs"}, std::pair{"-max_total_time=", "--time"},
                                       std::pair{"-seed=", "--seed"}})
      if (flag.starts_with(theirs))
        return user_error({}, "{} is not for a campaign's workers; it has {} for that", flag, ours);
    const auto name = std::string_view(flag).substr(0, equals),
               value = std::string_view(flag).substr(equals + 1);
    if (std::ranges::find(libfuzzer_texts, name) == std::end(libfuzzer_texts))
      ASSAY_TRY_VOID(check_libfuzzer_number(name, value));
  }
  return {};
}

Result<CampaignKernel> prepare(const std::string& argument, const FuzzArguments& arguments, Device& device) {
  ASSAY_TRY(CampaignKernel kernel, prepare_kernel(argument));
  if (arguments.kernels.size() == 1) { // of several each is compiled when its turn comes
    ASSAY_TRY_VOID(check_kernel(kernel.manifest, device));
    kernel.checked = true;
  }
  if (!arguments.corpus.empty()) {
    const fs::path corpus = arguments.corpus;
    kernel.corpora = {arguments.kernels.size() == 1 ? corpus : corpus / kernel.name};
  } else { // what a checkout brings is read; what the search finds worth keeping stays with its findings
    kernel.corpora = {fs::path(arguments.out) / kernel.name / "corpus"};
    if (const fs::path seeds = fs::path("corpus") / kernel.name / "seeds"; fs::is_directory(seeds))
      kernel.corpora.push_back(seeds);
  }
  return kernel;
}

// What makes two calls the same command, so that the second takes up the first where that was killed.
std::string command_of(const FuzzArguments& arguments) {
  return fmt::format(
      "{} --device {} --time {} --runs {} --seed {} --jobs {} --stop-after {} --corpus {} -- {}",
      fmt::join(arguments.kernels, " "), arguments.device, arguments.time,
      arguments.runs ? std::to_string(*arguments.runs) : "",
      arguments.seed ? std::to_string(*arguments.seed) : "", arguments.jobs, arguments.stop_after,
      arguments.corpus, fmt::join(arguments.libfuzzer_flags, " "));
}

std::string summary_text(const KernelSummary& kernel, std::uint64_t seed, bool interrupted) {
  if (!kernel.usable)
    return fmt::format("{} was left out: {}", kernel.report.kernel, to_string(kernel.usable.error()));
  std::string text = campaign_text(kernel.report);
  if (!text.ends_with('\n')) text += '\n';
  text += fmt::format("coverage {} of {} basic blocks of the kernel, seed {}", kernel.blocks_seen,
                      kernel.blocks, seed);
  if (interrupted) text += ", interrupted";
  if (kernel.not_run > 0)
    text += fmt::format("\n{} could not be run", counted(kernel.not_run, "further case"));
  if (kernel.report.cases == 0) text += "\nnothing was tested";
  for (const Crash& crash : kernel.crashes)
    text += fmt::format("\nworker {}{}{}", crash.how, crash.culprit.empty() ? "" : " in ",
                        crash.culprit.string());
  return text;
}

std::string total_text(const CampaignSummary& summary) {
  std::uint64_t cases = 0;
  std::size_t findings = 0, faulty = 0;
  for (const KernelSummary& kernel : summary.kernels) {
    cases += kernel.report.cases;
    findings += kernel.report.findings.size();
    faulty += kernel.report.findings.empty() ? 0 : 1;
  }
  return fmt::format("{}: {} in {:.1f} s ({:.0f} a second), {} in {}",
                     counted(summary.kernels.size(), "kernel"), counted(cases, "case"), summary.seconds,
                     static_cast<double>(cases) / std::max(summary.seconds, 1e-3),
                     counted(findings, "finding"), counted(faulty, "kernel"));
}

// Nothing tested is no success, and neither is a worker that died.
int verdict(const KernelSummary& kernel) {
  if (!kernel.report.findings.empty()) return 1;
  if (!kernel.crashes.empty()) return 70;
  if (!kernel.usable) return exit_code(kernel.usable.error().kind);
  if (kernel.report.cases == 0 || kernel.report.inconclusive == kernel.report.cases) return 3;
  return 0;
}

Result<CampaignOptions> campaign_options(FuzzArguments& arguments) {
  if (arguments.device.empty()) arguments.device = default_device();
  ASSAY_TRY_VOID(check_libfuzzer_flags(arguments.libfuzzer_flags));
  CampaignOptions options;
  if (!arguments.time.empty()) {
    ASSAY_TRY(options.seconds, parse_duration(arguments.time));
  } else if (!arguments.runs) {
    options.seconds = default_seconds;
  }
  if (arguments.jobs == 0)
    arguments.jobs =
        arguments.device.starts_with("cuda") ? 1 : std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
  options.runs = arguments.runs;
  options.seed = arguments.seed ? *arguments.seed : std::random_device{}();
  options.device = arguments.device;
  options.jobs = arguments.jobs;
  options.out = arguments.out;
  options.stop_after = arguments.stop_after;
  options.libfuzzer_flags = arguments.libfuzzer_flags;
  options.command = command_of(arguments);
  options.program = arguments.program;
  for (const std::string& kernel : arguments.kernels) ASSAY_TRY_VOID(resolve_manifest(kernel));
  ASSAY_TRY_VOID(check_output_file(arguments.json));
  ASSAY_TRY_VOID(check_output_folder(arguments.out));
  if (!arguments.corpus.empty()) ASSAY_TRY_VOID(check_output_folder(arguments.corpus));
  ASSAY_TRY(const auto device, open_loading_device(arguments.device)); // there is such a device
  std::map<std::string, std::string> names; // all kernels are prepared before the first runs
  for (const std::string& argument : arguments.kernels) {
    ASSAY_TRY(CampaignKernel kernel, prepare(argument, arguments, *device));
    if (const auto [first, is_new] = names.emplace(kernel.name, argument); !is_new)
      return user_error(Place{argument}, "is named {}, as {} is; their findings would mix", kernel.name,
                        first->second);
    options.kernels.push_back(std::move(kernel));
  }
  return options;
}

Outcome run_fuzz(FuzzArguments arguments) {
  Console console;
  ASSAY_TRY(CampaignOptions options, campaign_options(arguments));
  if (!arguments.corpus.empty()) ASSAY_TRY_VOID(make_output_folder(arguments.corpus));
  keep_folder_below(default_cache_dir(), largest_cache);
  ASSAY_TRY(const CampaignSummary summary, run_campaign(std::move(options), console));
  int code = 0;
  std::vector<CampaignReport> reports;
  for (const KernelSummary& kernel : summary.kernels) {
    // Why the only kernel could not be tried is the outcome, which is told below.
    if (kernel.usable || summary.outcome || summary.kernels.size() > 1)
      console.result(summary_text(kernel, summary.seed, summary.interrupted));
    code = worse(code, verdict(kernel));
    reports.push_back(kernel.report);
  }
  if (reports.size() > 1) console.result(total_text(summary));
  ASSAY_TRY_VOID(write_output(arguments.json, campaign_json(reports)));
  if (!summary.outcome) return std::unexpected(summary.outcome.error());
  return code;
}

} // namespace

void add_fuzz(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<FuzzArguments>();
  CLI::App* fuzz = app.add_subcommand(
      "fuzz", "search for inputs on which a kernel is wrong; keep and minimize what is found");
  fuzz->add_option("kernel", arguments->kernels, "manifests, or folders that hold a kernel.toml")
      ->option_text("KERNEL.toml ...")
      ->required();
  fuzz->add_option("--time", arguments->time,
                   "of searching, shared by the kernels; without it and --runs 60s")
      ->option_text("90|90s|30m|8h");
  fuzz->add_option("--runs", arguments->runs, "cases, for each kernel")
      ->option_text("N")
      ->check(whole_number(1));
  fuzz->add_option("--seed", arguments->seed, "of the search; a random one otherwise")
      ->option_text("N")
      ->check(whole_number(0));
  add_device(*fuzz, arguments->device);
  fuzz->add_option("--jobs", arguments->jobs, "worker processes at a time, at most 256; one a core otherwise")
      ->option_text("N")
      ->check(whole_number(1, 256));
  fuzz->add_option(
          "--corpus", arguments->corpus,
          "a folder of cases to start from and to add to; otherwise corpus/<kernel>/seeds is read and "
          "<out>/<kernel>/corpus added to; of several kernels each has its own folder below it")
      ->option_text("DIR");
  fuzz->add_option("--out", arguments->out, "the folder of the findings; findings otherwise")
      ->option_text("DIR");
  fuzz->add_option("--stop-after", arguments->stop_after, "a kernel ends at this many findings")
      ->option_text("N")
      ->check(whole_number(1));
  add_output_file(*fuzz, "--json", arguments->json, "write the summary to this file");
  fuzz->footer(
      "Example: assay fuzz kernels/softmax_naive/kernel.toml --time 60\n"
      "libFuzzer's own flags may follow after --, as -- -max_len=2000.\n"
      "A campaign that was killed or interrupted goes on where it was when the same command is given again.");
  fuzz->callback([arguments, &invocation] {
    arguments->program = invocation.program;
    arguments->libfuzzer_flags = invocation.after_dashes;
    invocation.outcome = run_fuzz(*arguments);
  });
}

} // namespace assay
