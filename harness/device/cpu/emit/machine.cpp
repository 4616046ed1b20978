#include "harness/device/cpu/emit/machine.h"

#include "harness/device/cpu/emit/support.h"
#include "harness/device/cpu/runtime/engine.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <functional>
#include <malloc.h>
#include <mutex>

namespace assay::cpu {
namespace {

// Passes of the code generator that cost a third of the time for a warp's wide code and gain nothing
// measurable there. LLVM offers no other way to leave them out of a JIT.
void leave_out_passes() {
  auto& options = llvm::cl::getRegisteredOptions();
  for (const char* name : {"disable-machine-licm", "disable-machine-cse", "disable-machine-sink"})
    if (const auto found = options.find(name); found != options.end())
      static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(true);
  // Its time grows with the square of a block's length: most of it from some thousand instructions on.
  if (const auto found = options.find("enable-misched"); found != options.end())
    found->second->addOccurrence(0, "enable-misched", "false");
}

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    leave_out_passes();
  });
}

std::unexpected<Error> llvm_error(llvm::Error error) {
  return internal_error("LLVM: {}", llvm::toString(std::move(error)));
}

// What pays within the budget for compiling: values that repeat, and the bit-twiddling idioms of the emitter.
// Registers that cross blocks stay in the frame on purpose (function_emitter.h), so nothing promotes them.
void optimise(llvm::Module& module, llvm::TargetMachine& target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager all;
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, modules);
}

} // namespace

bool host_has_avx512() {
  static const bool has = [] {
    const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    return features.lookup("avx512f") && features.lookup("avx512dq") && features.lookup("avx512bw") &&
           features.lookup("avx512vl");
  }();
  return has;
}

Result<std::unique_ptr<Machine>> Machine::make() {
  initialise_llvm();
  auto machine = std::make_unique<Machine>();
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host) return llvm_error(host.takeError());
  host->setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  host->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
  host->setRelocationModel(llvm::Reloc::PIC_); // what the JIT's linker wants
  host->setCodeModel(llvm::CodeModel::Small);
  auto target = host->createTargetMachine();
  if (!target) return llvm_error(target.takeError());
  machine->target_ = std::move(*target);
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*host))
                 .setLinkProcessSymbolsByDefault(false)
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform) // no start-up code, no exceptions
                 .create();
  if (!jit) return llvm_error(jit.takeError());
  machine->jit_ = std::move(*jit);
  llvm::orc::SymbolMap symbols;
  for (const auto& table : {runtime_symbols(), support_symbols()})
    for (const RuntimeSymbol& symbol : table)
      symbols[machine->jit_->mangleAndIntern(symbol.name)] = {
          llvm::orc::ExecutorAddr::fromPtr(symbol.address),
          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  if (auto error = machine->jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return llvm_error(std::move(error));
  return machine;
}

void Machine::prepare(llvm::Module& module) const {
  module.setDataLayout(jit_->getDataLayout());
  module.setTargetTriple(target_->getTargetTriple());
}

Result<void> Machine::define(const std::vector<std::pair<std::string, const void*>>& symbols) {
  llvm::orc::SymbolMap map;
  for (const auto& [name, address] : symbols)
    map[jit_->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                        llvm::JITSymbolFlags::Exported};
  if (auto error = jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(map))))
    return llvm_error(std::move(error));
  return {};
}

Result<void> Machine::add(llvm::Module& module, const ContentCache& cache,
                          const std::function<bool()>& may_keep,
                          const std::function<void(const std::string&)>& on_ir) {
  const bool cached = cache.enabled() && !on_ir;
  const std::string key = cached ? code_key(module, *target_, ASSAY_MACHINE_SOURCE) : std::string();
  std::unique_ptr<llvm::MemoryBuffer> object;
  if (const auto kept = cached ? cache.load(key) : std::nullopt)
    object = llvm::MemoryBuffer::getMemBufferCopy(*kept, key);
  if (!object) {
    ASSAY_TRY(object, compile(module, on_ir));
    ::malloc_trim(0); // tens of megabytes, in each of a campaign's hundreds of processes
    if (cached && may_keep()) cache.store(key, object->getBuffer());
  }
  if (auto error = jit_->addObjectFile(std::move(object))) return llvm_error(std::move(error));
  return {};
}

Result<std::unique_ptr<llvm::MemoryBuffer>>
Machine::compile(llvm::Module& module, const std::function<void(const std::string&)>& on_ir) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) return internal_error("emitted LLVM IR is malformed: {}", problem);
  optimise(module, *target_);
  if (on_ir) {
    std::string text;
    llvm::raw_string_ostream out(text);
    module.print(out, nullptr);
    on_ir(text);
  }
  auto object = llvm::orc::SimpleCompiler(*target_)(module);
  if (!object) return llvm_error(object.takeError());
  return std::move(*object);
}

Result<void*> Machine::find(const std::string& symbol) {
  auto address = jit_->lookup(symbol);
  if (!address) return llvm_error(address.takeError());
  return address->toPtr<void*>();
}

} // namespace assay::cpu
