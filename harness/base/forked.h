// What a forked child does first.
#pragma once

#include <sys/types.h>

namespace assay {

// The calling process is killed when its parent dies, and ends at once where `parent` is dead already.
void die_with(pid_t parent);

// No signal is handled any longer as the parent handled it.
void forget_signal_handlers();

// Both of these; Ctrl-C is left to the parent, and no signal is blocked.
void start_afresh(pid_t parent);

} // namespace assay
