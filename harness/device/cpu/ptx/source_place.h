// Where a line of PTX is told to be, which was made from a source that is none.
#pragma once

#include "harness/base/error.h"

#include <string_view>

namespace assay::ptx {

// An error at a line of the PTX made from `origin`, told where its reader can look. If origin is no .ptx file
// itself, that is the line of origin that a .loc gives, with the PTX's line behind the message; where the
// last .loc of that function gives none (no line, or another file's), it is the line of "origin's PTX". A
// place that is not in `origin`, or has no line, stays.
Error at_its_source(Error error, std::string_view text, std::string_view origin);

} // namespace assay::ptx
