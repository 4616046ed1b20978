#include "harness/run/operator_guard.h"

#include "harness/base/error.h"
#include "harness/base/last_words.h"
#include "harness/base/parallel.h"
#include "harness/base/time_limit.h"
#include "harness/run/code_line.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <execinfo.h>
#include <iterator>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

namespace assay {
namespace {

constexpr int time_is_up = SIGPROF; // processor time of the process; libFuzzer's own timer is by the clock
constexpr std::array caught = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, time_is_up};
constexpr std::size_t handler_stack_bytes = std::size_t{1} << 20;
constexpr std::intptr_t beside_the_stack = 64 << 10;
constexpr unsigned seconds_for_the_line = 10;

struct Current {
  const UserCode* code = nullptr; // null: no guard lives
  const OpInfo* info = nullptr;
  const Problem* problem = nullptr;
  std::chrono::seconds limit{0};
  pid_t thread = 0;
};
Current current;
std::array<struct sigaction, NSIG> before;

// What needs no memory, for a process whose allocator may be what broke.
struct Words {
  std::array<char, 2048> text;
  std::size_t size = 0;

  template <class... Args> void add(fmt::format_string<Args...> format, Args&&... args) {
    const auto written = fmt::format_to_n(text.data() + size, static_cast<std::ptrdiff_t>(text.size() - size),
                                          format, std::forward<Args>(args)...);
    size = std::min(size + written.size, text.size());
  }
  std::string_view view() const { return {text.data(), size}; }
};
Words plain; // the line to tell if nothing better can be had

// "the operator WHAT at rows=3, cols=257 (forward, f32)"
void describe(Words& words, std::string_view what) {
  words.add("the operator {}", what);
  if (current.problem == nullptr) return;
  for (std::size_t d = 0; d < current.problem->dims.size(); ++d)
    words.add("{}{}={}", d == 0 ? " at " : ", ", current.info->dims[d].name, current.problem->dims[d]);
  words.add(" ({}, {})", name_of(current.problem->pass), name_of(current.problem->dtype));
}

[[noreturn]] void tell_plain(int) { end_process(exit_code(ErrorKind::user), plain.view()); }

[[noreturn]] void tell(std::string_view what, std::span<void* const> frames) {
  plain.add("{}: ", current.code->header.native());
  describe(plain, what);
  for (const int signal : caught) ::signal(signal, tell_plain);
  ::signal(SIGALRM, tell_plain);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::alarm(seconds_for_the_line);
  const int line = line_in_code(*current.code, frames);
  if (line == 0) tell_plain(0);
  Words words;
  words.add("{}:{}: ", current.code->header.native(), line);
  describe(words, what);
  end_process(exit_code(ErrorKind::user), words.view());
}

void say_what(Words& words, int signal, const siginfo_t& info, const ucontext_t& context) {
  const auto* const registers = context.uc_mcontext.gregs;
  const auto address = reinterpret_cast<std::intptr_t>(info.si_addr);
  switch (signal) {
  case SIGSEGV:
  case SIGBUS:
    if (std::abs(address - static_cast<std::intptr_t>(registers[REG_RSP])) < beside_the_stack)
      return words.add("used up its stack (does it call itself without end?)");
    if (info.si_code == SI_KERNEL) return words.add("used an address that is none");
    return words.add("{} address {:#x}", (registers[REG_ERR] & 2) != 0 ? "wrote to" : "read", address);
  case SIGFPE:
    return words.add("divided an integer by zero");
  case SIGABRT:
    return words.add("called abort (as a failed assert does, or an exception where none may be thrown)");
  case time_is_up:
    return words.add("did not return within {} s of processor time (ASSAY_OPERATOR_SECONDS allows more)",
                     current.limit.count());
  default:
    return words.add("ran into an illegal instruction (a trap, or what the language does not define)");
  }
}

void on_signal(int signal, siginfo_t* info, void* context) {
  if (current.code == nullptr) {
    if (signal == time_is_up) return;
    ::sigaction(signal, &before[static_cast<std::size_t>(signal)], nullptr); // not ours: it comes again
    if (info->si_code <= 0) ::raise(signal);
    return;
  }
  if (::gettid() != current.thread) {
    ::tgkill(::getpid(), current.thread, signal);
    return;
  }
  const auto& where = *static_cast<const ucontext_t*>(context);
  Words what;
  say_what(what, signal, *info, where);
  std::array<void*, 64> frames;
  frames[0] = reinterpret_cast<void*>(where.uc_mcontext.gregs[REG_RIP] + 1); // as one to return to
  const int count = ::backtrace(frames.data() + 1, static_cast<int>(frames.size()) - 1);
  tell(what.view(), std::span(frames).first(static_cast<std::size_t>(count) + 1));
}

void on_exit() {
  if (current.code != nullptr) tell("called exit", {});
}

// Once a process, when the first formula is evaluated: then libFuzzer has what handlers it wants. A fork may
// have lost those of its parent.
void install() {
  static pid_t installed_in = 0;
  if (installed_in == ::getpid()) return;
  installed_in = ::getpid();
  static void* const stack =
      ::mmap(nullptr, handler_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const stack_t handler_stack{.ss_sp = stack, .ss_flags = 0, .ss_size = handler_stack_bytes};
  if (stack != MAP_FAILED) ::sigaltstack(&handler_stack, nullptr);
  void* frame = nullptr;
  ::backtrace(&frame, 1); // loads what it needs
  struct sigaction action{}, old{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : caught) {
    ::sigaction(signal, &action, &old);
    if (old.sa_sigaction != on_signal) before[static_cast<std::size_t>(signal)] = old;
  }
  std::atexit(on_exit);
  ::at_quick_exit(on_exit);
}

void set_timer(std::chrono::seconds seconds) {
  const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = seconds.count(), .tv_usec = 0}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

} // namespace

std::chrono::seconds evaluation_limit(std::chrono::seconds usual) {
  return time_limit("ASSAY_OPERATOR_SECONDS", usual);
}

OperatorGuard::OperatorGuard(const UserCode& code, const OpInfo* info, const Problem* problem,
                             std::chrono::seconds limit) {
  install();
  current = {&code, info, problem, limit, ::gettid()};
  set_timer(limit);
}

OperatorGuard::~OperatorGuard() {
  set_timer({});
  current = {};
}

void OperatorGuard::fail(const std::string& what) { tell(one_line(what), {}); }

std::vector<Evaluated> GuardedOp::evaluate(const Problem& problem, const Instrument& instrument) const {
  const OperatorGuard guard(code_, &info_, &problem, limit_);
  const OnOneThread alone; // whose faults the guard tells
  try {
    return op_.evaluate(problem, instrument);
  } catch (const std::exception& error) {
    OperatorGuard::fail(fmt::format("threw an exception: {}", error.what()));
  } catch (...) {
    OperatorGuard::fail("threw an exception");
  }
}

} // namespace assay
