// assay list: what there is.
#include "fuzz/open_device.h"
#include "harness/cases/manifest.h"
#include "harness/compile/compile.h"
#include "harness/ops/op.h"
#include "harness/report/table.h"
#include "harness/report/text.h"
#include "harness/store/corpus.h"
#include "tools/command.h"

#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

namespace assay {

namespace fs = std::filesystem;

namespace {

// Exit code. A manifest that cannot be read hides none of the others.
Result<int> list_kernels() {
  Table table({{"manifest"}, {"types"}, {"passes"}, {"op"}});
  std::vector<Error> broken;
  ASSAY_TRY(const auto files, Corpus("kernels").files());
  for (const fs::path& file : files) {
    // meta.toml is what a folder says of a kernel that is wrong on purpose.
    if (file.extension() != ".toml" || file.filename() == "meta.toml") continue;
    const auto manifest = load_manifest(file);
    if (!manifest) {
      broken.push_back(manifest.error());
      continue;
    }
    std::vector<std::string_view> types;
    for (const DType dtype : manifest->dtypes) types.push_back(name_of(dtype));
    table.add({file.string(), fmt::format("{}", fmt::join(types, " ")),
               manifest->has_backward() ? "forward backward" : "forward", manifest->op});
  }
  constexpr std::size_t any = 1000; // a path that is cut is no path
  fmt::print("{}", table.empty() && broken.empty() ? "no kernels below ./kernels\n" : table.text(any));
  std::fflush(stdout);
  for (const Error& error : broken) fmt::print(stderr, "assay: {}\n", to_string(error));
  return broken.empty() ? 0 : exit_code(broken.front().kind);
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
    const auto line = [&](Role from, Role to) {
      fmt::print("{}", wrapped(fmt::format("{} -> {}", tensors_of(info, from), tensors_of(info, to)), 2));
    };
    line(Role::input, Role::output);
    if (info.has_backward) line(Role::upstream, Role::gradient);
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
  int code = 0;
  if (what.empty() || what == "kernels") {
    ASSAY_TRY(code, list_kernels());
  }
  if (what.empty()) fmt::print("\n");
  if (what.empty() || what == "ops") list_ops();
  if (what.empty()) fmt::print("\n");
  if (what.empty() || what == "devices") list_devices();
  return code;
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
