// What makes two failures the same fault: kernel, pass, output, kind and place (interfaces: the findings
// folder's name).
#pragma once

#include "harness/base/error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

enum class Pass : std::uint8_t { forward, backward };

// Kinds of finding, in the order in which they take precedence when one case shows several.
enum class Kind : std::uint8_t {
  launch,           // the launch breaks a limit of the hardware
  trap,             // trap, failed assert
  out_of_bounds,    // an access outside every live buffer, or past its own
  misaligned,       // an access whose address is not a multiple of its size
  barrier,          // divergent barrier, or participants that never come
  timeout,          // the step budget ran out
  race,             // two accesses without order, one of them a write
  uninitialized,    // a value that nobody wrote was used
  input_modified,   // an input's bits changed
  unwritten,        // an output element was never written
  structure,        // NaN or infinity positions differ from the golden's
  mismatch,         // an exact output differs
  gate,             // target_error above the threshold, confirmed
  ulp,              // an elementwise output too many representable values off
  bias,             // a mean signed error that no legal evaluation has
  nondeterministic, // bits differ from run to run, undeclared
};

std::string_view name_of(Pass pass);
std::string_view name_of(Kind kind);
std::optional<Pass> parse_pass(std::string_view name);
std::optional<Kind> parse_kind(std::string_view name);

// Kinds that need no confirmation: the device or the bits saw them.
bool is_structural(Kind kind);

struct Signature {
  std::string kernel; // the manifest's name
  Pass pass = Pass::forward;
  std::string output; // tensor or buffer name; empty for launch, trap, barrier, timeout
  Kind kind = Kind::gate;
  Place place; // of the source line for memory, race, barrier and trap kinds; empty for numeric ones

  bool operator==(const Signature&) const = default;
};

// "softmax_naive-forward-y-structure" or "k-forward-scratch-race-k.cu-41": letters, digits and "._-" only, so
// that it names a folder; distinct signatures give distinct texts. Parsing is not needed: cases carry this
// text.
std::string to_string(const Signature& signature);

} // namespace assay
