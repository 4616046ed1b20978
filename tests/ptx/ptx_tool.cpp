// A look into the CPU device's compiler:
//   ptx_tool --table          the instructions that it supports
//   ptx_tool FILE.ptx...      compiles each file, prints its entries and what that took
//   ptx_tool --ir FILE.ptx    and the LLVM IR
#include "harness/base/files.h"
#include "harness/device/cpu/emit/compile.h"
#include "harness/device/cpu/ptx/catalogue.h"

#include <cstdio>
#include <ctime>
#include <string_view>

namespace {

using namespace assay;

int print_table() {
  for (const ptx::Form& form : ptx::supported_forms()) fmt::print("{}\n", to_string(form));
  return 0;
}

int compile_file(const char* path, bool print_ir) {
  auto text = read_file(path);
  if (!text) {
    fmt::print(stderr, "{}\n", to_string(text.error()));
    return exit_code(text.error().kind);
  }
  std::uint64_t slot = cpu::first_buffer_slot;
  const std::uint32_t no_hook = 0;
  cpu::EmitOptions options;
  options.reserve_slot = [&slot] { return slot++; };
  options.compare_enabled = &no_hook;
  if (print_ir) options.on_ir = [](const std::string& ir) { fmt::print("{}\n", ir); };
  const std::clock_t begin = std::clock();
  auto program = cpu::compile_ptx({*text, path, {}}, options);
  const double milliseconds = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (!program) {
    fmt::print(stderr, "{}\n", to_string(program.error()));
    return exit_code(program.error().kind);
  }
  fmt::print("{}: {:.0f} ms of processor time, {} blocks\n", path, milliseconds,
             (*program)->module.block_count);
  for (const cpu::CompiledEntry& entry : (*program)->module.entries)
    fmt::print("  {} ({} parameters, {} bytes of shared memory)\n", entry.info.name,
               entry.info.param_bytes.size(), entry.info.static_shared_bytes);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  bool print_ir = false;
  int worst = 0;
  for (int k = 1; k < argc; ++k) {
    const std::string_view arg = argv[k];
    if (arg == "--table") return print_table();
    if (arg == "--ir")
      print_ir = true;
    else
      worst = std::max(worst, compile_file(argv[k], print_ir));
  }
  return worst;
}
