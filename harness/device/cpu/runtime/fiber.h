// Stacks on which warps run, and the switch between them and the scheduler. A suspended fiber may be
// abandoned: its frames are forgotten without unwinding, so nothing on a fiber may own memory while it is
// suspended.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace assay::cpu {

inline constexpr std::size_t fiber_stack_bytes = std::size_t{4}
                                                 << 20; // reserved; touched pages are what it costs
// No emitted function's own frame may be larger; a call is refused where less than this and the runtime's
// need is left.
inline constexpr std::size_t largest_frame_bytes = std::size_t{1} << 20;

struct Fiber {
  void* context = nullptr; // where it goes on; null: at the beginning
  std::byte* stack = nullptr;
  void (*run)(void* argument) = nullptr;
  void* argument = nullptr;
  bool finished = false;
  bool dying = false;
  void* fake_stack = nullptr; // the address sanitizer's
};

class FiberPool {
 public:
  FiberPool() = default;
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;
  ~FiberPool();

  // A fiber that will call run(argument) at its first resume.
  Fiber* acquire(void (*run)(void*), void* argument);
  // Gives back a fiber that finished, or was left suspended and shall never go on.
  void release(Fiber* fiber);

  // From the scheduler: runs the fiber until it suspends, finishes (fiber->finished) or is abandoned.
  void resume(Fiber* fiber);
  // From inside the fiber.
  void suspend(Fiber* fiber);
  [[noreturn]] void abandon(Fiber* fiber);

  // Bytes of stack left below the current frame.
  static std::size_t stack_left(const Fiber* fiber);

 private:
  friend struct FiberEntry;
  void add_slab_();
  void leave_(Fiber* fiber, bool for_good);

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;
  std::vector<void*> slabs_;
  void* scheduler_ = nullptr;
  void* scheduler_fake_stack_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_stack_bytes_ = 0;
};

} // namespace assay::cpu
