// Why a process ends of itself, told to whoever can use it: on standard error, or to the parent that waits
// for it (forked_run.h, processes.h).
#pragma once

#include <string_view>

namespace assay {

// Writes "assay: LINE" on standard error, or LINE to the parent, and ends the process at once. It may be
// called in a signal handler.
[[noreturn]] void end_process(int code, std::string_view line) noexcept;

// From here on end_process writes to this file instead.
void tell_last_words_to(int file) noexcept;

} // namespace assay
