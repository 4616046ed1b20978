#include "harness/device/cpu/emit/layout.h"

#include <algorithm>

namespace assay::cpu {
namespace {

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

Place place_of(const ptx::Variable& variable, const std::string& origin) {
  return {origin, static_cast<int>(variable.line), 0};
}

} // namespace

Result<Layout> Layout::make(const ptx::Module& module, const std::function<std::uint64_t()>& reserve_slot) {
  Layout layout;
  ASSAY_TRY_VOID(layout.place_globals(module, reserve_slot));
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

Result<void> Layout::place_globals(const ptx::Module& module,
                                   const std::function<std::uint64_t()>& reserve_slot) {
  for (const ptx::Variable& variable : module.variables) {
    if (variable.space == ptx::Space::shared) continue;
    if (variable.external || variable.unsized) continue; // an error only where it is used
    const std::uint64_t slot = reserve_slot();
    if (!names_.emplace(variable.name, Location{variable.space, generic_address(slot, 0), false}).second)
      return user_error(place_of(variable, module.origin), "variable '{}' is defined twice", variable.name);
    ModuleVariable made;
    made.name = variable.name;
    made.slot = slot;
    made.constant = variable.space == ptx::Space::constant;
    variables_.push_back(std::move(made));
  }
  std::size_t next = 0;
  for (const ptx::Variable& variable : module.variables) {
    if (variable.space == ptx::Space::shared || variable.external || variable.unsized) continue;
    ASSAY_TRY(variables_[next++].initial, initial_bytes(variable, module.origin));
  }
  return {};
}

Result<std::vector<std::byte>> Layout::initial_bytes(const ptx::Variable& variable,
                                                     const std::string& origin) const {
  constexpr std::uint64_t largest = std::uint64_t{256} << 20;
  if (variable.bytes > largest)
    return environment_error(place_of(variable, origin),
                             "variable '{}' of {} bytes exceeds the CPU device's {} MB", variable.name,
                             variable.bytes, largest >> 20);
  std::vector<std::byte> bytes(variable.bytes);
  for (const ptx::InitialValue& value : variable.initial) {
    std::uint64_t bits = value.bits;
    if (!value.symbol.empty()) {
      const Location* location = find(value.symbol);
      if (!location)
        return environment_error(
            place_of(variable, origin),
            "initialiser of '{}' names '{}', which is no variable of global or const memory", variable.name,
            value.symbol);
      bits += location->address;
    }
    for (unsigned k = 0; k < value.bytes && k < 8 && value.offset + k < bytes.size(); ++k)
      bytes[value.offset + k] = static_cast<std::byte>(bits >> (8 * k));
  }
  return bytes;
}

void Layout::place_shared(const ptx::Module& module) {
  const auto place = [this](const ptx::Variable& variable, const ptx::Function* owner, std::uint64_t& end) {
    Location location{ptx::Space::shared, 0, variable.unsized};
    if (variable.unsized) {
      dynamic_alignment_ = std::max(dynamic_alignment_, variable.alignment);
      return location;
    }
    location.address = align_up(end, std::max<std::uint64_t>(variable.alignment, 16));
    shared_.push_back({{std::string(variable.name), static_cast<std::uint32_t>(location.address),
                        static_cast<std::uint32_t>(variable.bytes)},
                       owner});
    end = location.address + variable.bytes + shared_gap;
    return location;
  };
  std::uint64_t common = 0;
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
    bytes += placed.variable.bytes;
  }
  into.shared_bytes = static_cast<std::uint32_t>(end);
  into.dynamic_alignment = dynamic_alignment_;
  into.info.static_shared_bytes = bytes;
}

} // namespace assay::cpu
