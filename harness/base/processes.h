// Work spread over processes of this program: for code that has one device, or one library, a process.
#pragma once

#include "harness/base/error.h"

#include <cstddef>
#include <functional>
#include <string>

namespace assay {

// Calls work(k) for every k below `count` in child processes, at most `jobs` at a time, and done(k, its text)
// here, in the order in which they come. A child that dies costs the item that it was at, which is an
// internal error, or the user's where it said so (last_words.h); another takes its place. Children are
// forked: the caller has no other thread, and what `work` opens it opens there. They die with the caller.
Result<void> for_each_in_processes(std::size_t count, unsigned jobs,
                                   const std::function<std::string(std::size_t)>& work,
                                   const std::function<void(std::size_t, Result<std::string>)>& done);

} // namespace assay
