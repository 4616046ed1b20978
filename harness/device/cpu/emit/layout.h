// Where a module's variables live, and what their names mean as addresses.
#pragma once

#include "harness/base/error.h"
#include "harness/device/cpu/ptx/ast.h"
#include "harness/device/cpu/runtime/engine.h"

#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::cpu {

// Between shared variables lies this much of nobody's memory, so that running over one is seen.
inline constexpr std::uint32_t shared_gap = 32;

struct Location {
  ptx::Space space = ptx::Space::global;
  std::uint64_t address = 0; // global, const: generic; shared: offset in the window
  bool dynamic = false;      // extern shared array: begins at Warp::dynamic_shared
};

class Layout {
 public:
  // Module variables get slots from reserve_slot, in order.
  static Result<Layout> make(const ptx::Module& module, const std::function<std::uint64_t()>& reserve_slot);

  // Of a module variable; null where there is none of that name.
  const Location* find(std::string_view name) const;
  // Of a .shared variable declared inside a function.
  const Location& shared_in(const ptx::Function& function, std::uint32_t variable) const;
  // Fills what concerns shared memory.
  void describe(const ptx::Function& entry, CompiledEntry& into) const;

  std::vector<ModuleVariable> take_variables() { return std::move(variables_); }

 private:
  struct Placed {
    SharedVariable variable;
    const ptx::Function* owner = nullptr; // null: of the module or of a .func, so in every entry
  };
  Result<void> place_globals(const ptx::Module& module, const std::function<std::uint64_t()>& reserve_slot);
  void place_shared(const ptx::Module& module);
  Result<std::vector<std::byte>> initial_bytes(const ptx::Variable& variable,
                                               const std::string& origin) const;

  std::unordered_map<std::string_view, Location> names_;
  std::unordered_map<const ptx::Variable*, Location> local_shared_;
  std::vector<Placed> shared_;
  std::vector<ModuleVariable> variables_;
  std::uint32_t dynamic_alignment_ = 16;
};

} // namespace assay::cpu
