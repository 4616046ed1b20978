#include "harness/base/parallel.h"

#include <array>
#include <atomic>
#include <csignal>
#include <exception>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <utility>

namespace assay {

namespace {

constexpr std::size_t pieces_a_thread = 4; // so that none waits long for the last
std::atomic<int> setting = 1;
thread_local bool on_one_thread = false;

// Signals that are sent to the process go to the threads that were there before; faults stay where they are.
class SignalsElsewhere {
 public:
  SignalsElsewhere() {
    sigset_t sent;
    ::sigfillset(&sent);
    for (const int fault : std::array{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
      ::sigdelset(&sent, fault);
    ::pthread_sigmask(SIG_BLOCK, &sent, &before_);
  }
  SignalsElsewhere(const SignalsElsewhere&) = delete;
  SignalsElsewhere& operator=(const SignalsElsewhere&) = delete;
  ~SignalsElsewhere() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// False: the system has no more, and those that there are do it all.
bool start(std::vector<std::jthread>& threads, const auto& work) {
  try {
    threads.emplace_back(work);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

} // namespace

void use_threads(int threads) { setting = std::max(threads, 1); }

int threads_used() { return setting; }

int threads_of_host(std::uint64_t processes) {
  const std::uint64_t cores = std::thread::hardware_concurrency(); // 0: not known
  return static_cast<int>(std::max<std::uint64_t>(cores / std::max<std::uint64_t>(processes, 1), 1));
}

OnOneThread::OnOneThread() : before_(std::exchange(on_one_thread, true)) {}
OnOneThread::~OnOneThread() { on_one_thread = before_; }

std::size_t pieces_of(double cost, double least) {
  const int threads = setting.load(std::memory_order_relaxed);
  if (threads <= 1 || on_one_thread || !(cost >= 2 * least)) return 1;
  const double most = static_cast<double>(pieces_a_thread) * threads;
  return static_cast<std::size_t>(std::min(cost / least, most));
}

void in_pieces(std::size_t pieces, const std::function<void(std::size_t)>& run) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> thrown(pieces);
  const auto work = [&] {
    const OnOneThread alone;
    for (std::size_t p = next++; p < pieces; p = next++) {
      try {
        run(p);
      } catch (...) {
        thrown[p] = std::current_exception();
      }
    }
  };
  {
    const std::size_t helpers =
        on_one_thread || pieces == 0 ? 0 : std::min(static_cast<std::size_t>(threads_used()), pieces) - 1;
    std::vector<std::jthread> threads;
    if (helpers > 0) {
      const SignalsElsewhere signals;
      threads.reserve(helpers);
      while (threads.size() < helpers)
        if (!start(threads, work)) break;
    }
    work();
  }
  for (const std::exception_ptr& exception : thrown)
    if (exception) std::rethrow_exception(exception);
}

} // namespace assay
