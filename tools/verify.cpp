// assay verify: the fixed verification, its table and its verdict.
#include "harness/run/verify.h"

#include "fuzz/open_device.h"
#include "harness/report/verify.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/console.h"
#include "tools/manifest_path.h"
#include "tools/output_file.h"
#include "tools/whole_number.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace assay {

namespace {

constexpr std::int64_t largest_tensor = std::int64_t{1} << 19; // elements; no case has more

struct VerifyArguments {
  std::vector<std::string> kernels;
  std::string device, json;
  std::uint64_t seed = 0;
};

Result<VerifyReport> verify_one(Kernel& kernel, std::uint64_t seed, Console& console) {
  const VerifyCases cases = verify_cases(kernel.space(), seed);
  fmt::print("{}\n", verify_declaration(kernel, static_cast<int>(cases.cases.size())));
  std::fflush(stdout); // the tolerance stands before the first launch
  ASSAY_TRY(VerifyReport report, verify(kernel, cases, [&](int done, int planned, const std::string& what) {
              if (console.progress_due())
                console.progress(
                    fmt::format("{}: {} {} of {}", kernel.manifest().name, what, done + 1, planned));
            }));
  console.clear();
  fmt::print("{}", verify_text(report));
  return report;
}

Outcome run_verify(const VerifyArguments& arguments) {
  std::vector<std::filesystem::path> manifests;
  for (const std::string& kernel : arguments.kernels) {
    ASSAY_TRY(std::filesystem::path manifest, resolve_manifest(kernel));
    manifests.push_back(std::move(manifest));
  }
  ASSAY_TRY_VOID(check_output_file(arguments.json));
  ASSAY_TRY(const auto device, open_device(arguments.device.empty() ? default_device() : arguments.device));
  std::vector<std::unique_ptr<Kernel>> kernels; // all are bound and compiled before the first runs
  for (const auto& manifest : manifests) {
    KernelOptions options;
    options.element_budget = largest_tensor;
    options.named_by_user = true;
    ASSAY_TRY(auto kernel, Kernel::load(manifest, *device, options));
    kernels.push_back(std::move(kernel));
  }
  Console console;
  std::vector<VerifyReport> reports;
  Verdict verdict = Verdict::pass;
  for (const auto& kernel : kernels) {
    if (!reports.empty()) fmt::print("\n");
    ASSAY_TRY(VerifyReport report, verify_one(*kernel, arguments.seed, console));
    verdict = worst(verdict, report.verdict);
    reports.push_back(std::move(report));
  }
  if (reports.size() > 1) {
    fmt::print("\n");
    for (const VerifyReport& report : reports)
      fmt::print("{:<40} {} ({:.1f} s)\n", report.kernel, name_of(report.verdict), report.seconds);
  }
  ASSAY_TRY_VOID(write_output(arguments.json, verify_json(reports)));
  return exit_code(verdict);
}

} // namespace

void add_verify(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* verify = app.add_subcommand(
      "verify", "the fixed verification of a kernel: every output and gradient, one table, one verdict");
  verify->add_option("kernel", arguments->kernels, "manifests, or names of folders below kernels/")
      ->option_text("KERNEL.toml ...")
      ->required();
  add_device(*verify, arguments->device);
  verify->add_option("--seed", arguments->seed, "other random values in the same cases; 0 otherwise")
      ->option_text("N")
      ->check(whole_number(0));
  add_output_file(*verify, "--json", arguments->json, "write the reports to this file");
  verify->footer("Example: assay verify kernels/softmax/kernel.toml --json verify.json");
  verify->callback([arguments, &invocation] { invocation.outcome = run_verify(*arguments); });
}

} // namespace assay
