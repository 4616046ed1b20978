#include "harness/device/cpu/emit/compile.h"

#include "harness/device/cpu/emit/cas_loops.h"
#include "harness/device/cpu/emit/function_emitter.h"
#include "harness/device/cpu/emit/machine.h"
#include "harness/device/cpu/emit/register_parameters.h"
#include "harness/device/cpu/emit/unguard.h"
#include "harness/device/cpu/ptx/catalogue.h"
#include "harness/device/cpu/ptx/parser.h"
#include "harness/device/cpu/ptx/source_place.h"
#include "harness/device/cpu/runtime/fiber.h"

#include <llvm/IR/DiagnosticInfo.h>

#include <algorithm>

namespace assay::cpu {
namespace {

// What the registers' and branches' names stand for was resolved while parsing; here what one function says
// is made plain for the emitter.
void simplify(ptx::Module& module) {
  pass_in_variables(module);
  for (ptx::Function& function : module.functions) {
    fold_constants(function);
    relax_reads_of_swaps(function);
    branch_around_guarded_waits(function);
    drop_unused_registers(function);
  }
}

Result<void> check_branches(const ptx::Module& module) {
  for (const ptx::Function& function : module.functions)
    for (const ptx::Instruction& i : function.instructions)
      if (i.opcode == "bra" && i.operands[0].kind != ptx::Operand::Kind::symbol)
        return user_error({module.origin, static_cast<int>(i.line), 0}, "bra needs a label");
  return {};
}

CompiledEntry describe(const ptx::Function& entry, const Layout& layout) {
  CompiledEntry made;
  made.info.name = entry.name;
  std::uint64_t offset = 0;
  for (const ptx::Variable& param : entry.params) {
    offset = (offset + param.alignment - 1) / param.alignment * param.alignment;
    made.param_offsets.push_back(static_cast<std::uint32_t>(offset));
    made.info.param_bytes.push_back(static_cast<std::uint32_t>(param.bytes));
    offset += param.bytes;
  }
  made.param_window_bytes = static_cast<std::uint32_t>(offset);
  made.info.required_block = entry.required_block;
  made.local_bytes = local_frame(entry).bytes;
  if (entry.max_block_threads != 0) made.info.max_block_threads = std::min(1024u, entry.max_block_threads);
  layout.describe(entry, made);
  return made;
}

llvm::Function* declare(llvm::Module& module, const ptx::Function& function) {
  auto& context = module.getContext();
  std::vector<llvm::Type*> params{llvm::PointerType::getUnqual(context)};
  if (!function.entry) { // its lanes, and the areas of its result and parameters
    params.push_back(llvm::Type::getInt32Ty(context));
    params.push_back(llvm::PointerType::getUnqual(context));
  }
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), params, false);
  auto* made = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol_of(function), module);
  made->setDoesNotThrow();
  made->addFnAttr("warn-stack-size", std::to_string(largest_frame_bytes)); // see note_large_frames
  if (host_has_avx512()) {
    made->addFnAttr("prefer-vector-width", "512");
    made->addFnAttr("min-legal-vector-width", "512");
  }
  return made;
}

// Frames beyond largest_frame_bytes would run over a fiber's end; LLVM tells of them while it makes code.
void note_large_frames(llvm::LLVMContext& context, std::vector<std::string>& functions) {
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void* into) {
        if (const auto* size = llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(info))
          static_cast<std::vector<std::string>*>(into)->push_back(size->getFunction().getName().str());
      },
      &functions);
}

Result<void> check_frames(const ptx::Module& module, const std::vector<std::string>& large) {
  for (const ptx::Function& function : module.functions)
    if (std::ranges::find(large, symbol_of(function)) != large.end())
      return environment_error(
          {module.origin, static_cast<int>(function.line), 0},
          "function '{}' keeps more values at once than fit the CPU device's stack of {} KB", function.name,
          largest_frame_bytes >> 10);
  return {};
}

// What calls through pointers reach.
Result<void> fill_callees(const ptx::Module& module, CompiledProgram& program) {
  if (program.data.pointer_calls.empty()) return {};
  const auto bytes = [](const std::vector<ptx::Variable>& variables) {
    std::vector<std::uint64_t> sizes;
    for (const ptx::Variable& variable : variables) sizes.push_back(variable.bytes);
    return sizes;
  };
  for (const ptx::Function& function : module.functions) {
    Callee callee{std::string(function.name), nullptr, bytes(function.results), bytes(function.params)};
    if (function.defined && !function.entry) {
      ASSAY_TRY(void* address, program.machine->find(symbol_of(function)));
      callee.code = reinterpret_cast<FunctionCode>(address);
    }
    program.data.callees.push_back(std::move(callee));
  }
  return {};
}

Result<void> emit(const ptx::Module& module, const Layout& layout, CodeData& data, llvm::Module& into,
                  std::uint32_t& block_count, std::vector<std::pair<std::string, const void*>>& symbols) {
  LaneBuilder lanes(into);
  ModuleScope scope{module, layout, data, lanes, 0, host_has_avx512()};
  std::vector<std::pair<const ptx::Function*, llvm::Function*>> functions;
  for (const ptx::Function& function : module.functions)
    if (function.defined) functions.emplace_back(&function, declare(into, function));
  for (const auto& [function, made] : functions) {
    ASSAY_TRY(std::vector<Block> blocks, split_blocks(*function, module.origin));
    if (blocks.size() * function->registers.size() > largest_liveness)
      return environment_error({module.origin, static_cast<int>(function->line), 0},
                               "function '{}' is too large for the CPU device ({} blocks, {} registers)",
                               function->name, blocks.size(), function->registers.size());
    ASSAY_TRY_VOID(FunctionEmitter(scope, *function, std::move(blocks)).run(made));
  }
  block_count = scope.first_block;
  for (const void* address : lanes.data())
    symbols.emplace_back(LaneBuilder::data_symbol(symbols.size()), address);
  return {};
}

Result<std::unique_ptr<CompiledProgram>> compile_whole(const PtxSource& source, const EmitOptions& options) {
  ASSAY_TRY(ptx::Module module, ptx::parse(source.text, source.origin));
  ASSAY_TRY_VOID(check_supported(module));
  ASSAY_TRY_VOID(check_branches(module));
  simplify(module);
  ASSAY_TRY(Layout layout, Layout::make(module, options.reserve_slot));

  auto program = std::make_unique<CompiledProgram>();
  program->data.compare_enabled = options.compare_enabled;
  ASSAY_TRY(program->machine, Machine::make());
  llvm::LLVMContext context;
  note_large_frames(context, program->large_frames);
  llvm::Module ir("ptx", context);
  program->machine->prepare(ir);
  CompiledModule& compiled = program->module;
  std::vector<std::pair<std::string, const void*>> data;
  ASSAY_TRY_VOID(emit(module, layout, program->data, ir, compiled.block_count, data));
  if (options.machine_code) {
    ASSAY_TRY_VOID(program->machine->define(data));
    const auto frames_fit = [&] { return check_frames(module, program->large_frames).has_value(); };
    ASSAY_TRY_VOID(program->machine->add(ir, code_cache(options.cache_dir), frames_fit, options.on_ir));
  }

  for (const ptx::Function& function : module.functions) {
    if (!function.entry || !function.defined) continue;
    CompiledEntry entry = describe(function, layout);
    if (options.machine_code) {
      ASSAY_TRY(void* address, program->machine->find(symbol_of(function)));
      entry.function = reinterpret_cast<WarpFunction>(address);
    }
    compiled.entries.push_back(std::move(entry));
  }
  if (options.machine_code) ASSAY_TRY_VOID(fill_callees(module, *program));
  ASSAY_TRY_VOID(check_frames(module, program->large_frames));
  compiled.variables = layout.take_variables();
  if (!module.files.empty()) compiled.files.assign(module.files.begin() + 1, module.files.end());
  compiled.origin = source.origin;
  compiled.block_counters.resize(compiled.block_count);
  return program;
}

} // namespace

CompiledProgram::CompiledProgram() = default;
CompiledProgram::~CompiledProgram() = default;

Result<std::unique_ptr<CompiledProgram>> compile_ptx(const PtxSource& source, const EmitOptions& options) {
  auto program = compile_whole(source, options);
  if (program) return program;
  return std::unexpected(ptx::at_its_source(std::move(program).error(), source.text, source.origin));
}

} // namespace assay::cpu
