// PTX text to ptx::Module. Malformed text is a user error with origin and line; nothing about support is
// decided here (catalogue.h does).
#pragma once

#include "harness/base/error.h"
#include "harness/device/cpu/ptx/ast.h"

#include <string>
#include <string_view>

namespace assay::ptx {

Result<Module> parse(std::string text, std::string_view origin);

} // namespace assay::ptx
