// assay list: what there is.
#include "fuzz/open_device.h"
#include "harness/cases/manifest.h"
#include "harness/compile/compile.h"
#include "harness/ops/op.h"
#include "harness/report/table.h"
#include "harness/store/corpus.h"
#include "tools/command.h"

#include <fmt/ranges.h>

#include <memory>

namespace assay {

namespace fs = std::filesystem;

namespace {

Result<void> list_kernels() {
  Table table({{"kernel"}, {"op"}, {"types"}, {"passes"}, {"manifest"}});
  ASSAY_TRY(const auto files, Corpus("kernels").files());
  for (const fs::path& file : files) {
    // meta.toml is what a folder says of a kernel that is wrong on purpose.
    if (file.extension() != ".toml" || file.filename() == "meta.toml") continue;
    ASSAY_TRY(const Manifest manifest, load_manifest(file));
    std::vector<std::string_view> types;
    for (const DType dtype : manifest.dtypes) types.push_back(name_of(dtype));
    table.add({manifest.name, manifest.op, fmt::format("{}", fmt::join(types, " ")),
               manifest.has_backward() ? "forward backward" : "forward", file.string()});
  }
  fmt::print("{}", table.empty() ? "no kernels below ./kernels\n" : table.text());
  return {};
}

// "x[rows, cols], weight[cols]" of one role; (opt) may be left out by a kernel.
std::string tensors_of(const OpInfo& op, Role role) {
  std::vector<std::string> texts;
  for (const TensorInfo& tensor : op.tensors)
    if (tensor.role == role)
      texts.push_back(fmt::format("{}[{}]{}{}", tensor.name, fmt::join(tensor.shape, ", "),
                                  tensor.dtype ? " " + std::string(name_of(*tensor.dtype)) : "",
                                  tensor.optional ? " (opt)" : ""));
  return fmt::format("{}", fmt::join(texts, ", "));
}

void list_ops() {
  for (const Op* op : all_ops()) {
    const OpInfo& info = op->info();
    std::vector<std::string> names;
    for (const DimInfo& dim : info.dims) names.push_back(dim.name);
    for (const ParamInfo& param : info.params)
      names.push_back(fmt::format("{} = {}", param.name, param.initial));
    fmt::print("{}  {}\n", info.name, fmt::join(names, ", "));
    fmt::print("  {} -> {}\n", tensors_of(info, Role::input), tensors_of(info, Role::output));
    if (info.has_backward)
      fmt::print("  {} -> {}\n", tensors_of(info, Role::upstream), tensors_of(info, Role::gradient));
  }
}

void list_devices() {
  Table table({{"device"}, {"what it is"}});
  for (const char* name : {"cpu", "cuda"}) {
    const auto device = open_device(name);
    table.add({name, device ? (*device)->name() : "not here: " + to_string(device.error())});
  }
  const auto compiler = compiler_version();
  table.add({"compiler", compiler ? *compiler : "not here: " + to_string(compiler.error())});
  fmt::print("{}", table.text());
}

Outcome run_list(const std::string& what) {
  if (what.empty() || what == "kernels") ASSAY_TRY_VOID(list_kernels());
  if (what.empty()) fmt::print("\n");
  if (what.empty() || what == "ops") list_ops();
  if (what.empty()) fmt::print("\n");
  if (what.empty() || what == "devices") list_devices();
  return 0;
}

} // namespace

void add_list(CLI::App& app, Invocation& invocation) {
  auto what = std::make_shared<std::string>();
  CLI::App* list = app.add_subcommand("list", "kernels of this checkout, operators, devices");
  list->add_option("what", *what, "kernels, ops or devices; all of them otherwise")
      ->option_text("kernels|ops|devices")
      ->check(CLI::IsMember({"kernels", "ops", "devices"}));
  list->footer("Example: assay list ops");
  list->callback([what, &invocation] { invocation.outcome = run_list(*what); });
}

} // namespace assay
