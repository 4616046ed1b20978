// assay fuzz: one campaign after another, a campaign a kernel.
#include "fuzz/open_device.h"
#include "harness/base/files.h"
#include "harness/report/text.h"
#include "harness/run/kernel.h"
#include "harness/run/replay.h"
#include "tools/campaign.h"
#include "tools/command.h"
#include "tools/duration.h"
#include "tools/interrupt.h"
#include "tools/manifest_path.h"
#include "tools/output_file.h"
#include "tools/text.h"
#include "tools/whole_number.h"

#include <chrono>
#include <cstdio>
#include <random>
#include <thread>

namespace assay {

namespace fs = std::filesystem;

namespace {

struct FuzzArguments {
  std::vector<std::string> kernels;
  std::string time, device, corpus, json;
  std::string out = "findings";
  std::optional<std::uint64_t> runs, seed;
  unsigned jobs = 0;
  std::uint64_t stop_after = 0;
  std::vector<std::string> libfuzzer_flags;
};

constexpr double default_seconds = 60;

// Flags of libFuzzer's that would make one worker into something else than a worker.
Result<void> check_libfuzzer_flags(const std::vector<std::string>& flags) {
  for (const std::string& flag : flags) {
    if (!flag.starts_with("-"))
      return user_error({}, "'{}' after -- is not a libFuzzer flag (-name=value)", flag);
    for (const char* name : {"-fork=", "-jobs=", "-workers=", "-merge=", "-minimize_crash=", "-help="})
      if (flag.starts_with(name))
        return user_error({}, "{} is not for a campaign's workers; give it to assay-fuzz itself", flag);
  }
  return {};
}

// Everything that can be said before the search begins: the manifest, the source for every type, a case of
// each.
Result<CampaignOptions> prepare(const std::string& kernel_argument, const FuzzArguments& arguments,
                                Device& device, CampaignReport& report) {
  CampaignOptions options;
  ASSAY_TRY(options.manifest, resolve_manifest(kernel_argument));
  ASSAY_TRY(const auto kernel, Kernel::load(options.manifest, device));
  const CaseSpace& space = kernel->space();
  for (const DType dtype : space.dtypes) {
    Case simplest;
    simplest.dtype = dtype;
    auto legal = repair(std::move(simplest), space);
    if (!legal)
      return user_error(Place{options.manifest.string()}, "no case can be drawn: {}",
                        to_string(legal.error()));
    ASSAY_TRY_VOID(kernel->plan(*legal));
  }
  report.not_tested = kernel->not_tested();
  options.kernel = kernel->manifest().name;
  options.device = arguments.device;
  options.runs = arguments.runs;
  if (!arguments.time.empty()) {
    ASSAY_TRY(options.seconds, parse_duration(arguments.time));
  } else if (!arguments.runs) {
    options.seconds = default_seconds;
  }
  options.seed = *arguments.seed;
  options.jobs = arguments.jobs;
  options.out = arguments.out;
  options.stop_after = arguments.stop_after;
  options.libfuzzer_flags = arguments.libfuzzer_flags;
  if (!arguments.corpus.empty()) {
    options.corpora = {arguments.corpus};
  } else { // what a checkout brings is read; what the search finds worth keeping stays with its findings
    options.corpora = {options.out / options.kernel / "corpus"};
    if (const fs::path seeds = fs::path("corpus") / options.kernel / "seeds"; fs::is_directory(seeds))
      options.corpora.push_back(seeds);
  }
  return options;
}

std::string summary_text(const CampaignSummary& summary, std::uint64_t seed) {
  std::string text = campaign_text(summary.report);
  if (!text.ends_with('\n')) text += '\n';
  text += fmt::format("coverage {} of {} basic blocks of the kernel, seed {}", summary.blocks_seen,
                      summary.blocks, seed);
  if (summary.interrupted) text += ", interrupted";
  if (summary.not_run > 0)
    text += fmt::format("\n{} could not be run", counted(summary.not_run, "further case"));
  for (const Crash& crash : summary.crashes)
    text += fmt::format("\nworker {}{}{}", crash.how, crash.culprit.empty() ? "" : " in ",
                        crash.culprit.string());
  return text;
}

// Nothing tested is no success, and neither is a worker that died.
int verdict(const CampaignSummary& summary) {
  if (!summary.report.findings.empty()) return 1;
  if (!summary.crashes.empty()) return 70;
  if (summary.report.cases == 0 || summary.report.inconclusive == summary.report.cases) return 3;
  return 0;
}

// Of several campaigns the worst counts.
int worse(int a, int b) {
  for (const int code : {1, 70, 3})
    if (a == code || b == code) return code;
  return 0;
}

Outcome run_fuzz(FuzzArguments arguments) {
  if (arguments.device.empty()) arguments.device = default_device();
  ASSAY_TRY_VOID(check_libfuzzer_flags(arguments.libfuzzer_flags));
  if (!arguments.time.empty()) ASSAY_TRY_VOID(parse_duration(arguments.time));
  if (!arguments.seed) arguments.seed = std::random_device{}();
  if (arguments.jobs == 0)
    arguments.jobs =
        arguments.device.starts_with("cuda") ? 1 : std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
  for (const std::string& kernel : arguments.kernels) ASSAY_TRY_VOID(resolve_manifest(kernel));

  ASSAY_TRY_VOID(check_writable(arguments.json));
  ASSAY_TRY(const auto device, open_device(arguments.device));
  std::vector<CampaignOptions> campaigns; // all of them are prepared before the first runs
  std::vector<CampaignReport> reports;
  for (const std::string& kernel : arguments.kernels) {
    ASSAY_TRY(CampaignOptions options, prepare(kernel, arguments, *device, reports.emplace_back()));
    campaigns.push_back(std::move(options));
  }
  int code = 0;
  std::size_t done = 0;
  for (; done < campaigns.size() && !interrupted(); ++done) {
    Console console;
    ASSAY_TRY(CampaignSummary summary, run_campaign(campaigns[done], console));
    summary.report.not_tested = reports[done].not_tested;
    console.result(summary_text(summary, *arguments.seed));
    if (summary.report.cases == 0) console.note("assay: nothing was tested");
    code = worse(code, verdict(summary));
    reports[done] = std::move(summary.report);
  }
  reports.resize(done);
  if (!arguments.json.empty()) ASSAY_TRY_VOID(write_file(arguments.json, campaign_json(reports)));
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
                   "of searching, for each kernel: 90, 90s, 30m, 8h; without it and --runs 60s");
  fuzz->add_option("--runs", arguments->runs, "cases, for each kernel")->check(whole_number(1));
  fuzz->add_option("--seed", arguments->seed, "of the search; a random one otherwise")
      ->check(whole_number(0));
  fuzz->add_option("--device", arguments->device, "cpu, cuda or cuda:N; cuda where there is one, else cpu");
  fuzz->add_option("--jobs", arguments->jobs, "worker processes; one a core otherwise")
      ->check(CLI::Range(1, 256));
  fuzz->add_option(
      "--corpus", arguments->corpus,
      "a folder of cases to start from and to add to; otherwise corpus/<kernel>/seeds is read and "
      "<out>/<kernel>/corpus added to");
  fuzz->add_option("--out", arguments->out, "the folder of the findings; findings otherwise");
  fuzz->add_option("--stop-after", arguments->stop_after, "end at this many findings")
      ->check(whole_number(1));
  fuzz->add_option("--json", arguments->json, "write the summary to this file");
  fuzz->footer("libFuzzer's own flags may follow after --");
  fuzz->callback([arguments, &invocation] {
    arguments->libfuzzer_flags = invocation.after_dashes;
    invocation.outcome = run_fuzz(*arguments);
  });
}

} // namespace assay
