// Whether launches can learn of each other through variables of their module.
#pragma once

#include <string_view>

namespace assay {

// Whether the PTX may write a .global variable of its own, or pass on the address of one. Tables that are
// only loaded from keep nothing, nor do the strings of printf and assert.
bool keeps_state(std::string_view ptx);

} // namespace assay
