// call: of the module's functions, by name or through a pointer, and of the few that the driver provides.
#include "harness/device/cpu/emit/areas.h"
#include "harness/device/cpu/emit/function_emitter.h"
#include "harness/device/cpu/emit/handlers.h"

#include <string>

namespace assay::cpu {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

struct Call {
  std::vector<std::uint32_t> results, params; // variables
  std::string_view callee;
  const Operand* pointer = nullptr; // in place of a name
};

bool add_variables(FunctionEmitter& e, const Instruction& i, const Operand& list,
                   std::vector<std::uint32_t>& into) {
  for (const Operand& part : list.parts) {
    if (part.variable == ptx::no_index || !e.area(part.variable)) {
      e.fail(i, ErrorKind::environment,
             "the CPU device supports calls only with .param variables as arguments");
      return false;
    }
    into.push_back(part.variable);
  }
  return true;
}

std::optional<Call> parse(FunctionEmitter& e, const Instruction& i) {
  Call call;
  std::size_t next = 0;
  if (i.operands.size() > 1 && i.operands[0].kind == Operand::Kind::list &&
      !add_variables(e, i, i.operands[next++], call.results))
    return std::nullopt;
  if (next >= i.operands.size()) {
    e.fail(i, ErrorKind::user, "call needs a function");
    return std::nullopt;
  }
  const Operand& callee = i.operands[next++];
  if (callee.kind == Operand::Kind::symbol && callee.variable == ptx::no_index)
    call.callee = callee.name;
  else if (callee.kind == Operand::Kind::reg || callee.kind == Operand::Kind::integer)
    call.pointer = &callee;
  else
    e.fail(i, ErrorKind::user, "call needs a function's name or a register that holds its address");
  if (next < i.operands.size() && i.operands[next].kind == Operand::Kind::list &&
      !add_variables(e, i, i.operands[next], call.params))
    return std::nullopt;
  return call;
}

// A parameter of a driver function, into scratch memory as 32 elements of 4 or 8 bytes.
Value* load_parameter(FunctionEmitter& e, std::uint32_t variable, unsigned scratch) {
  auto& b = e.lanes();
  const auto bytes = static_cast<std::uint32_t>(e.function().variables[variable].bytes);
  Value* place = b.scratch(scratch);
  b.call("assay_area_load", b.ir.getInt32Ty(),
         {e.area(variable), b.ir.getInt32(bytes), b.ir.getInt32(0), b.ir.getInt32(bytes > 8 ? 8 : bytes),
          e.executing(), place});
  return place;
}

void store_result(FunctionEmitter& e, std::uint32_t variable, Value* values) {
  auto& b = e.lanes();
  const auto bytes = static_cast<std::uint32_t>(e.function().variables[variable].bytes);
  b.call("assay_area_store", b.ir.getVoidTy(),
         {e.area(variable), b.ir.getInt32(bytes), b.ir.getInt32(0), b.ir.getInt32(bytes > 8 ? 8 : bytes),
          e.executing(), values, b.ir.getInt32(0)});
}

// True where the callee is a driver function, and then its code is emitted.
bool call_driver(FunctionEmitter& e, const Instruction& i, const Call& call) {
  auto& b = e.lanes();
  Value* site = b.pointer(e.site(i));
  const auto arguments = [&](std::size_t params, std::size_t results) {
    if (call.params.size() >= params && call.results.size() >= results) return true;
    e.fail(i, ErrorKind::user, "'{}' takes {} parameters", call.callee, params);
    return false;
  };
  if (call.callee == "vprintf") {
    if (!arguments(2, 1)) return true;
    Value* format = load_parameter(e, call.params[0], 0);
    Value* args = load_parameter(e, call.params[1], 1);
    b.call("assay_vprintf", b.ir.getVoidTy(), {e.warp(), e.executing(), site, format, args, b.scratch(2)});
    store_result(e, call.results[0], b.scratch(2));
  } else if (call.callee == "malloc") {
    if (!arguments(1, 1)) return true;
    Value* bytes = load_parameter(e, call.params[0], 0);
    b.call("assay_malloc", b.ir.getVoidTy(), {e.warp(), e.executing(), bytes, b.scratch(1)});
    store_result(e, call.results[0], b.scratch(1));
  } else if (call.callee == "free") {
    if (!arguments(1, 0)) return true;
    Value* pointers = load_parameter(e, call.params[0], 0);
    b.call("assay_free", b.ir.getVoidTy(), {e.warp(), e.executing(), site, pointers});
  } else if (call.callee == "__assertfail") {
    if (!arguments(4, 0)) return true;
    Value* message = load_parameter(e, call.params[0], 0);
    Value* file = load_parameter(e, call.params[1], 1);
    Value* line = load_parameter(e, call.params[2], 2);
    Value* function = load_parameter(e, call.params[3], 3);
    b.call("assay_assert_fail", b.ir.getVoidTy(),
           {e.warp(), e.executing(), site, message, file, line, function});
  } else {
    return false;
  }
  return true;
}

// The areas of a call as the callee expects them: results, then parameters.
Value* passed_areas(FunctionEmitter& e, const Call& call) {
  auto& b = e.lanes();
  const std::size_t count = call.params.size() + call.results.size();
  Value* areas = b.slot(b.ir.getPtrTy(), count == 0 ? 1 : count);
  std::size_t next = 0;
  for (const auto* list : {&call.results, &call.params})
    for (const std::uint32_t variable : *list)
      b.ir.CreateStore(e.area(variable), b.ir.CreateConstInBoundsGEP1_64(b.ir.getPtrTy(), areas, next++));
  return areas;
}

void emit_pointer_call(FunctionEmitter& e, const Instruction& i, const Call& call) {
  auto& b = e.lanes();
  Value* address = e.read(*call.pointer, Type::b64);
  e.use(e.taken_taint(), i);
  e.set_taint(nullptr);
  CodeData& data = e.scope().data;
  PointerCall& described = data.pointer_calls.emplace_back(PointerCall{*e.site(i), &data.callees, {}, {}});
  for (const std::uint32_t variable : call.results)
    described.results.push_back(e.function().variables[variable].bytes);
  for (const std::uint32_t variable : call.params)
    described.params.push_back(e.function().variables[variable].bytes);
  b.ir.CreateAlignedStore(address, b.scratch(0), llvm::Align(64));
  b.call("assay_call_pointer", b.ir.getVoidTy(),
         {e.warp(), e.executing(), b.pointer(&described), b.scratch(0), passed_areas(e, call)});
  e.after_call();
}

void emit_call(FunctionEmitter& e, const Instruction& i) {
  auto& b = e.lanes();
  const auto call = parse(e, i);
  if (!call) return;
  if (call->pointer) return emit_pointer_call(e, i, *call);
  const ptx::Function* callee = nullptr;
  for (const ptx::Function& function : e.scope().source.functions)
    if (function.name == call->callee) callee = &function;
  if (!callee) return e.fail(i, ErrorKind::user, "function '{}' is not declared", call->callee);
  if (!callee->defined) {
    if (!call_driver(e, i, *call))
      e.fail(i, ErrorKind::environment,
             "function '{}' is declared but neither defined nor known to the CPU device", call->callee);
    return;
  }
  if (callee->entry)
    return e.fail(i, ErrorKind::user, "'{}' is an entry, which no call reaches", call->callee);
  if (callee->params.size() != call->params.size() || callee->results.size() != call->results.size())
    return e.fail(i, ErrorKind::user, "call of '{}' does not match its declaration", call->callee);
  for (std::size_t k = 0; k < call->params.size(); ++k)
    if (e.function().variables[call->params[k]].bytes != callee->params[k].bytes)
      return e.fail(i, ErrorKind::user, "argument {} of '{}' has the wrong size", k + 1, call->callee);
  for (std::size_t k = 0; k < call->results.size(); ++k)
    if (e.function().variables[call->results[k]].bytes != callee->results[k].bytes)
      return e.fail(i, ErrorKind::user, "the result of '{}' has the wrong size", call->callee);
  b.call(symbol_of(*callee), b.ir.getVoidTy(), {e.warp(), e.executing(), passed_areas(e, *call)});
  e.after_call();
}

void emit_brkpt(FunctionEmitter&, const Instruction&) {}

} // namespace

Handler call_handler(std::string_view opcode) {
  if (opcode == "call") return emit_call;
  if (opcode == "brkpt") return emit_brkpt;
  return nullptr;
}

} // namespace assay::cpu
