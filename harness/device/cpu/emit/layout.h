// Where a module's variables live, and what their names mean as addresses.
#pragma once

#include "harness/base/error.h"
#include "harness/device/cpu/ptx/ast.h"
#include "harness/device/cpu/runtime/engine.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::cpu {

// Between shared variables, and between those of .const, lies this much of nobody's memory, so that running
// over one is seen.
inline constexpr std::uint32_t shared_gap = 32;

// From compute capability 8.0 on the system keeps 1 KB of each block's shared memory; cooperative groups use
// it through %reserved_smem_offset_1 and finds zeros there. Here it begins the window.
inline constexpr std::uint32_t reserved_shared_bytes = 1024;

// The address of the module's function of this index.
inline constexpr std::uint64_t function_address(std::size_t index) {
  return generic_address(code_slot, 16 * (index + 1));
}
// The index behind an address; at least `functions` where there is none.
inline constexpr std::size_t function_index(std::uint64_t address, std::size_t functions) {
  const std::uint64_t offset = address - generic_address(code_slot, 0);
  return offset % 16 == 0 && offset != 0 && offset / 16 <= functions ? offset / 16 - 1 : functions;
}

// A symbol as its author wrote it, without the function or namespace around it: "_ZZ4testE4tile" is tile.
std::string variable_name(std::string_view symbol);

struct Location {
  ptx::Space space = ptx::Space::global;
  std::uint64_t address = 0; // global, const: generic; shared: offset in the window
  bool dynamic = false;      // extern shared array: begins at Warp::dynamic_shared
};

// Where a function's .local variables lie in its frame, by variable.
struct LocalFrame {
  std::vector<std::uint32_t> offsets;
  std::uint64_t bytes = 0;
  std::uint32_t alignment = 16;
};
LocalFrame local_frame(const ptx::Function& function);

class Layout {
 public:
  // Module variables get slots from reserve_slot, in order.
  static Result<Layout> make(const ptx::Module& module, const std::function<std::uint64_t()>& reserve_slot);

  // Of a module variable; null where there is none of that name.
  const Location* find(std::string_view name) const;
  // The module's .const variables lie in one window: the generic address of its start. An address of 32 bits
  // is an offset from there.
  std::uint64_t constant_window() const { return constant_window_; }
  // What cooperative launches give a grid for its barrier, behind %envreg1 (high half) and %envreg2; 0 where
  // the module does not ask.
  std::uint64_t grid_workspace() const { return grid_workspace_; }
  // Of a .shared variable declared inside a function.
  const Location& shared_in(const ptx::Function& function, std::uint32_t variable) const;
  // Fills what concerns shared memory.
  void describe(const ptx::Function& entry, CompiledEntry& into) const;

  std::vector<ModuleVariable> take_variables() { return std::move(variables_); }

 private:
  struct Placed {
    SharedVariable variable;
    const ptx::Function* owner = nullptr; // null: of the module or of a .func, so in every entry
    bool reserved = false;                // by the system, beside what a kernel may declare
  };
  Result<void> place_globals(const ptx::Module& module, const std::function<std::uint64_t()>& reserve_slot);
  Result<void> place_constants(const ptx::Module& module, const std::function<std::uint64_t()>& reserve_slot);
  void place_workspace(const ptx::Module& module, const std::function<std::uint64_t()>& reserve_slot);
  Result<void> name(const ptx::Module& module, const ptx::Variable& variable, Location location);
  void place_shared(const ptx::Module& module);
  Result<void> write_initial(const ptx::Module& module, const ptx::Variable& variable,
                             std::span<std::byte> bytes) const;
  std::optional<std::uint64_t> address_of(const ptx::Module& module, std::string_view symbol) const;

  std::unordered_map<std::string_view, Location> names_;
  std::unordered_map<const ptx::Variable*, Location> local_shared_;
  std::vector<Placed> shared_;
  std::vector<ModuleVariable> variables_;
  std::uint64_t constant_window_ = 0, grid_workspace_ = 0;
  std::uint32_t dynamic_alignment_ = 16;
};

} // namespace assay::cpu
