#include "harness/base/forked.h"

#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

namespace assay {

void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1); // it died before the line above
}

void forget_signal_handlers() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
}

void start_afresh(pid_t parent) {
  die_with(parent);
  forget_signal_handlers();
  ::signal(SIGINT, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

} // namespace assay
