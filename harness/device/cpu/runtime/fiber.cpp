#include "harness/device/cpu/runtime/fiber.h"

#include "harness/base/check.h"

#include <boost/context/detail/fcontext.hpp>

#include <sys/mman.h>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASSAY_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#endif

namespace assay::cpu {
namespace context = boost::context::detail;

namespace {
constexpr std::size_t guard_bytes = 4096;
constexpr std::size_t stacks_in_slab = 16;
constexpr std::size_t stride = guard_bytes + fiber_stack_bytes;

#ifdef ASSAY_ASAN
constexpr bool annotated = true;
void start_switch(void** save, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(save, bottom, bytes);
}
void finish_switch(void* fake, const void** bottom, std::size_t* bytes) {
  __sanitizer_finish_switch_fiber(fake, bottom, bytes);
}
void forget_frames(const Fiber& fiber) { ASAN_UNPOISON_MEMORY_REGION(fiber.stack, fiber_stack_bytes); }
#else
constexpr bool annotated = false;
void start_switch(void**, const void*, std::size_t) {}
void finish_switch(void*, const void**, std::size_t*) {}
void forget_frames(const Fiber&) {}
#endif
} // namespace

// What the scheduler hands to a fiber that it starts.
struct FiberEntry {
  FiberPool* pool;
  Fiber* fiber;

  static void run(context::transfer_t transfer) {
    const FiberEntry entry = *static_cast<FiberEntry*>(transfer.data);
    FiberPool& pool = *entry.pool;
    Fiber& fiber = *entry.fiber;
    pool.scheduler_ = transfer.fctx;
    finish_switch(nullptr, &pool.scheduler_stack_, &pool.scheduler_stack_bytes_);
    for (;;) {
      fiber.run(fiber.argument);
      fiber.finished = true;
      pool.suspend(&fiber);
    }
  }
};

FiberPool::~FiberPool() {
  for (const auto& fiber : fibers_)
    if (annotated && fiber->context) {
      fiber->dying = true;
      resume(fiber.get());
    }
  for (const auto& fiber : fibers_) forget_frames(*fiber);
  for (void* slab : slabs_) munmap(slab, stride * stacks_in_slab);
}

void FiberPool::add_slab_() {
  void* slab = mmap(nullptr, stride * stacks_in_slab, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSAY_CHECK(slab != MAP_FAILED, "no memory for the stacks of {} warps", fibers_.size() + stacks_in_slab);
  madvise(slab, stride * stacks_in_slab, MADV_NOHUGEPAGE); // a stack costs the pages that it touches
  slabs_.push_back(slab);
  for (std::size_t i = 0; i < stacks_in_slab; ++i) {
    std::byte* base = static_cast<std::byte*>(slab) + i * stride;
    ASSAY_CHECK(mprotect(base, guard_bytes, PROT_NONE) == 0, "cannot protect the guard page of a stack");
    auto fiber = std::make_unique<Fiber>();
    fiber->stack = base + guard_bytes;
    free_.push_back(fiber.get());
    fibers_.push_back(std::move(fiber));
  }
}

Fiber* FiberPool::acquire(void (*run)(void*), void* argument) {
  if (free_.empty()) add_slab_();
  Fiber* fiber = free_.back();
  free_.pop_back();
  fiber->run = run;
  fiber->argument = argument;
  fiber->finished = false;
  return fiber;
}

void FiberPool::release(Fiber* fiber) {
  if (!fiber->finished && fiber->context) {
    if (annotated && !fiber->dying) { // lets the sanitizer free what it keeps for these frames
      fiber->dying = true;
      resume(fiber);
    }
    fiber->dying = false;
    fiber->context = nullptr;
    fiber->fake_stack = nullptr;
    forget_frames(*fiber);
  }
  free_.push_back(fiber);
}

void FiberPool::resume(Fiber* fiber) {
  FiberEntry entry{this, fiber};
  void* target = fiber->context;
  if (!target)
    target = context::make_fcontext(fiber->stack + fiber_stack_bytes, fiber_stack_bytes, &FiberEntry::run);
  start_switch(&scheduler_fake_stack_, fiber->stack, fiber_stack_bytes);
  const context::transfer_t back = context::jump_fcontext(target, &entry);
  finish_switch(scheduler_fake_stack_, nullptr, nullptr);
  fiber->context = back.fctx;
}

void FiberPool::leave_(Fiber* fiber, bool for_good) {
  start_switch(for_good ? nullptr : &fiber->fake_stack, scheduler_stack_, scheduler_stack_bytes_);
  const context::transfer_t back = context::jump_fcontext(scheduler_, nullptr);
  scheduler_ = back.fctx;
  finish_switch(fiber->fake_stack, &scheduler_stack_, &scheduler_stack_bytes_);
}

void FiberPool::suspend(Fiber* fiber) {
  leave_(fiber, false);
  if (annotated && fiber->dying) abandon(fiber);
}

void FiberPool::abandon(Fiber* fiber) {
  fiber->dying = true;
  leave_(fiber, true);
  std::unreachable();
}

std::size_t FiberPool::stack_left(const Fiber* fiber) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(__builtin_frame_address(0)) - fiber->stack);
}

} // namespace assay::cpu
