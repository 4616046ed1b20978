#include "harness/device/cpu/emit/layout.h"

#include <llvm/Demangle/Demangle.h>

#include <algorithm>

namespace assay::cpu {
namespace {

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

constexpr std::uint64_t largest_variable = std::uint64_t{256} << 20;

Place place_of(const ptx::Variable& variable, const std::string& origin) {
  return {origin, static_cast<int>(variable.line), 0};
}

std::unexpected<Error> too_large(const ptx::Variable& variable, const std::string& origin) {
  return environment_error(place_of(variable, origin),
                           "variable '{}' of {} bytes exceeds the CPU device's {} MB", variable.name,
                           variable.bytes, largest_variable >> 20);
}

// What is extern or has no size is an error only where it is used.
bool placed_in(const ptx::Variable& variable, bool constant) {
  const bool global = variable.space == ptx::Space::global;
  return (constant ? variable.space == ptx::Space::constant : global) && !variable.external &&
         !variable.unsized;
}

// Whether an operand of the module is a special register of this stem.
bool asks_for(const ptx::Module& module, std::string_view stem) {
  for (const ptx::Function& function : module.functions)
    for (const ptx::Instruction& i : function.instructions)
      for (const ptx::Operand& operand : i.operands)
        if (operand.kind == ptx::Operand::Kind::special && operand.name.starts_with(stem)) return true;
  return false;
}

} // namespace

std::string variable_name(std::string_view symbol) {
  std::string name = llvm::demangle(symbol);
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 1;) {
    if (name[at] == ')' || name[at] == '>') ++depth;
    if (name[at] == '(' || name[at] == '<') --depth;
    if (depth == 0 && name[at] == ':' && name[at - 1] == ':') return name.substr(at + 1);
  }
  return name;
}

LocalFrame local_frame(const ptx::Function& function) {
  LocalFrame frame;
  frame.offsets.resize(function.variables.size());
  for (std::size_t v = 0; v < function.variables.size(); ++v) {
    const ptx::Variable& variable = function.variables[v];
    if (variable.space != ptx::Space::local) continue;
    frame.bytes = align_up(frame.bytes, variable.alignment);
    frame.offsets[v] = static_cast<std::uint32_t>(frame.bytes);
    frame.alignment = std::max(frame.alignment, variable.alignment);
    frame.bytes += variable.bytes;
  }
  return frame;
}

Result<Layout> Layout::make(const ptx::Module& module, const std::function<std::uint64_t()>& reserve_slot) {
  Layout layout;
  ASSAY_TRY_VOID(layout.place_globals(module, reserve_slot));
  layout.place_workspace(module, reserve_slot);
  layout.place_shared(module);
  return layout;
}

const Location* Layout::find(std::string_view name) const {
  const auto it = names_.find(name);
  return it == names_.end() ? nullptr : &it->second;
}

const Location& Layout::shared_in(const ptx::Function& function, std::uint32_t variable) const {
  return local_shared_.at(&function.variables[variable]);
}

Result<void> Layout::name(const ptx::Module& module, const ptx::Variable& variable, Location location) {
  if (!names_.emplace(variable.name, location).second)
    return user_error(place_of(variable, module.origin), "variable '{}' is defined twice", variable.name);
  return {};
}

// The hardware too has one window for constants; 64 KB of it, which nothing here depends on.
Result<void> Layout::place_constants(const ptx::Module& module,
                                     const std::function<std::uint64_t()>& reserve_slot) {
  ModuleVariable window;
  std::uint64_t end = 0;
  for (const ptx::Variable& variable : module.variables) {
    if (!placed_in(variable, true)) continue;
    if (window.pieces.empty()) {
      window.slot = reserve_slot();
      constant_window_ = generic_address(window.slot, 0);
    }
    const std::uint64_t begin = align_up(end, std::max<std::uint64_t>(variable.alignment, 16));
    end = begin + variable.bytes + shared_gap;
    if (end > largest_variable) return too_large(variable, module.origin);
    ASSAY_TRY_VOID(name(module, variable, {variable.space, constant_window_ + begin, false}));
    window.pieces.push_back({variable_name(variable.name), static_cast<std::uint32_t>(begin),
                             static_cast<std::uint32_t>(variable.bytes)});
  }
  if (window.pieces.empty()) return {};
  window.name = "constant memory";
  window.constant = true;
  window.initial.resize(end);
  variables_.push_back(std::move(window));
  return {};
}

Result<void> Layout::place_globals(const ptx::Module& module,
                                   const std::function<std::uint64_t()>& reserve_slot) {
  for (const ptx::Variable& variable : module.variables) {
    if (!placed_in(variable, false)) continue;
    if (variable.bytes > largest_variable) return too_large(variable, module.origin);
    ModuleVariable made;
    made.slot = reserve_slot();
    made.name = variable_name(variable.name);
    made.initial.resize(variable.bytes);
    ASSAY_TRY_VOID(name(module, variable, {variable.space, generic_address(made.slot, 0), false}));
    variables_.push_back(std::move(made));
  }
  ASSAY_TRY_VOID(place_constants(module, reserve_slot));
  std::size_t global = 0, constant = 0;
  for (const ptx::Variable& variable : module.variables) {
    if (placed_in(variable, false))
      ASSAY_TRY_VOID(write_initial(module, variable, variables_[global++].initial));
    if (!placed_in(variable, true)) continue;
    ModuleVariable& window = variables_.back();
    const SharedVariable& piece = window.pieces[constant++];
    ASSAY_TRY_VOID(
        write_initial(module, variable, std::span(window.initial).subspan(piece.offset, piece.bytes)));
  }
  return {};
}

// Two words: its size and the barrier, as cooperative_groups/details/driver_abi.h declares them.
void Layout::place_workspace(const ptx::Module& module, const std::function<std::uint64_t()>& reserve_slot) {
  if (!asks_for(module, "%envreg")) return;
  ModuleVariable workspace;
  workspace.slot = reserve_slot();
  workspace.name = "the grid's workspace";
  workspace.initial.assign(8, std::byte{0});
  workspace.initial[0] = std::byte{8};
  grid_workspace_ = generic_address(workspace.slot, 0);
  variables_.push_back(std::move(workspace));
}

Result<void> Layout::write_initial(const ptx::Module& module, const ptx::Variable& variable,
                                   std::span<std::byte> bytes) const {
  for (const ptx::InitialValue& value : variable.initial) {
    std::uint64_t bits = value.bits;
    if (!value.symbol.empty()) {
      const std::optional<std::uint64_t> address = address_of(module, value.symbol);
      if (!address)
        return environment_error(
            place_of(variable, module.origin),
            "initialiser of '{}' names '{}', which is no function and no variable of global or const memory",
            variable.name, value.symbol);
      bits += *address;
    }
    for (unsigned k = 0; k < value.bytes && k < 8 && value.offset + k < bytes.size(); ++k)
      bytes[value.offset + k] = static_cast<std::byte>(bits >> (8 * k));
  }
  return {};
}

std::optional<std::uint64_t> Layout::address_of(const ptx::Module& module, std::string_view symbol) const {
  if (const Location* location = find(symbol)) return location->address;
  for (std::size_t k = 0; k < module.functions.size(); ++k)
    if (module.functions[k].name == symbol) return function_address(k);
  return std::nullopt;
}

void Layout::place_shared(const ptx::Module& module) {
  const auto place = [this](const ptx::Variable& variable, const ptx::Function* owner, std::uint64_t& end) {
    Location location{ptx::Space::shared, 0, variable.unsized};
    if (variable.unsized) {
      dynamic_alignment_ = std::max(dynamic_alignment_, variable.alignment);
      return location;
    }
    location.address = align_up(end, std::max<std::uint64_t>(variable.alignment, 16));
    shared_.push_back({{variable_name(variable.name), static_cast<std::uint32_t>(location.address),
                        static_cast<std::uint32_t>(variable.bytes)},
                       owner});
    end = location.address + variable.bytes + shared_gap;
    return location;
  };
  std::uint64_t common = 0;
  if (asks_for(module, "%reserved_smem")) {
    shared_.push_back({{"reserved shared memory", 0, reserved_shared_bytes}, nullptr, true});
    common = reserved_shared_bytes + shared_gap;
  }
  for (const ptx::Variable& variable : module.variables)
    if (variable.space == ptx::Space::shared) names_.emplace(variable.name, place(variable, nullptr, common));
  for (const bool entries : {false, true})
    for (const ptx::Function& function : module.functions) {
      if (function.entry != entries) continue;
      std::uint64_t own = common;
      std::uint64_t& end = entries ? own : common;
      for (const ptx::Variable& variable : function.variables)
        if (variable.space == ptx::Space::shared)
          local_shared_.emplace(&variable, place(variable, entries ? &function : nullptr, end));
    }
}

void Layout::describe(const ptx::Function& entry, CompiledEntry& into) const {
  std::uint64_t end = 0, bytes = 0;
  for (const Placed& placed : shared_) {
    if (placed.owner && placed.owner != &entry) continue;
    into.shared.push_back(placed.variable);
    end = std::max<std::uint64_t>(end, placed.variable.offset + placed.variable.bytes + shared_gap);
    if (placed.reserved)
      into.zeroed_shared_bytes = placed.variable.bytes;
    else
      bytes += placed.variable.bytes;
  }
  into.shared_bytes = static_cast<std::uint32_t>(end);
  into.dynamic_alignment = dynamic_alignment_;
  into.info.static_shared_bytes = bytes;
}

} // namespace assay::cpu
