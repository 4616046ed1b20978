// A device by the name that users give it: "cpu", "cuda", "cuda:1".
#pragma once

#include "harness/base/error.h"
#include "harness/device/device.h"

#include <memory>
#include <string>

namespace assay {

// Not such a name: a user error. A device that this machine or this build does not have: an environment
// error.
// Workers beside each other share the GPUs out: with plain "cuda", worker N opens the Nth, counted round and
// round. A GPU waits while the host judges a case, so with one all cores of the host do that (use_threads); a
// process that shares the host with others says so afterwards.
Result<std::unique_ptr<Device>> open_device(const std::string& name, unsigned worker = 0);

// For programs that are only loaded, to see what they are refused for: one that makes no machine code, where
// the device does that itself. Null: there is no need of one, its driver's start being what takes long.
std::unique_ptr<Device> loading_device(const std::string& name);
// That, or the device.
Result<std::unique_ptr<Device>> open_loading_device(const std::string& name);

// What `--device` is where it is not given.
std::string default_device();

} // namespace assay
