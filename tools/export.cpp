// assay export: a case as a file for people without Assay.
#include "fuzz/open_device.h"
#include "harness/export/exported.h"
#include "harness/run/replay.h"
#include "tools/case_file.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/output_file.h"

#include <memory>

namespace assay {

namespace {

struct ExportArguments {
  std::string case_file, format, out, device;
};

// What to do with the file, one line.
std::string advice(const std::string& format, const std::string& file, bool is_ptx) {
  if (format == "cu")
    return fmt::format("nvcc -std=c++17 -lineinfo{} -o reproducer {} && ./reproducer",
                       is_ptx ? " -lcuda" : "", file);
  if (format == "py") return fmt::format("python3 {}", file);
  return fmt::format("python3 -c \"import numpy; print(dict(numpy.load('{}')))\"", file);
}

Outcome run_export(const ExportArguments& arguments) {
  ASSAY_TRY(const Case test_case, load_case(arguments.case_file));
  ASSAY_TRY(const auto manifest, find_manifest(test_case, arguments.case_file));
  const std::string own = "." + arguments.format;
  ASSAY_TRY_VOID(arguments.out.empty() ? check_output_folder(".") : check_output_file(arguments.out, own));
  ASSAY_TRY(const auto device, open_device(arguments.device.empty() ? default_device() : arguments.device));
  ASSAY_TRY(const auto kernel, Kernel::load(manifest, *device));
  ASSAY_TRY(const Judgement judgement, judge(*kernel, test_case, {.mode = JudgeMode::on_this_input}));
  const Exported exported{*kernel, test_case, judgement};
  ASSAY_TRY(const std::string bytes, arguments.format == "cu"   ? cuda_program(exported)
                                     : arguments.format == "py" ? python_script(exported)
                                                                : npz_arrays(exported));
  const std::string name =
      judgement.findings.empty() ? kernel->manifest().name : to_string(judgement.findings.front().signature);
  const std::string file = arguments.out.empty() ? name + "." + arguments.format : arguments.out;
  ASSAY_TRY_VOID(check_output_file(file, own));
  if (std::error_code ec; std::filesystem::equivalent(file, kernel->manifest().source, ec))
    return user_error(Place{file}, "is the kernel's own source: give another file to write");
  ASSAY_TRY_VOID(write_output(file, bytes));
  fmt::print("{}\n{}\n", title_of(exported),
             advice(arguments.format, file, kernel->manifest().source.extension() == ".ptx"));
  return 0;
}

} // namespace

void add_export(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command = app.add_subcommand(
      "export", "a reproducer for people without Assay: a CUDA program, the arrays, a PyTorch script");
  command->add_option("case", arguments->case_file, "a stored case")->option_text("CASE")->required();
  command
      ->add_option("--format", arguments->format,
                   "cu: a CUDA program; npz: the arrays; py: a script that compares with torch")
      ->option_text("cu|npz|py")
      ->required()
      ->check(CLI::IsMember({"cu", "npz", "py"}));
  add_output_file(*command, "--out", arguments->out, "the file; else the finding's name in this folder");
  add_device(*command, arguments->device);
  command->footer(
      "Example: assay export corpus/max_drops_nan/max_drops_nan-forward-y-structure.case --format cu");
  command->callback([arguments, &invocation] { invocation.outcome = run_export(*arguments); });
}

} // namespace assay
