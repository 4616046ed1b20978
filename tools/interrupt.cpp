#include "tools/interrupt.h"

#include <atomic>

namespace assay {

namespace {
std::atomic<int> count = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");
} // namespace

InterruptScope::InterruptScope() {
  struct sigaction action{};
  action.sa_handler = [](int) { count.fetch_add(1, std::memory_order_relaxed); };
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &old_int_);
  ::sigaction(SIGTERM, &action, &old_term_);
}

InterruptScope::~InterruptScope() {
  ::sigaction(SIGINT, &old_int_, nullptr);
  ::sigaction(SIGTERM, &old_term_, nullptr);
}

int interruptions() { return count.load(std::memory_order_relaxed); }

} // namespace assay
