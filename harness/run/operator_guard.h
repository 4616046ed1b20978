// A user's operator runs in the process that judges: its formula is evaluated hundreds of times a case, by
// many instruments, and each time a process of its own would cost more than the formula. So it is tried in a
// child when it is loaded (user_operator.h), where nearly everything shows that it does wrong, and here is
// what catches the rest, at sizes and values that were not tried: while a guard lives, a crash, an exit or a
// formula that does not return is the operator's doing. It ends this process with one line that names the
// header, and the line of it where debug information and llvm-symbolizer tell, and with the exit code of bad
// input (end_process): what the formula left behind can be trusted for nothing more, least of all a verdict.
//
// Not caught here: _exit, and what a formula does to memory that is not its own without a crash. Whoever owns
// the header is trusted not to; line.h checks every access to a tensor.
#pragma once

#include "harness/ops/op.h"

#include <chrono>
#include <filesystem>
#include <string>

namespace assay {

// Who is at fault, and where its code is.
struct UserCode {
  std::filesystem::path header;  // as the user knows it
  std::filesystem::path library; // the shared object
  std::filesystem::path symbolizer;
};

// How long one evaluation may take, in processor time: $ASSAY_OPERATOR_SECONDS, else `usual`. It is less than
// the 300 s after which a campaign takes a case for hung, so that the operator is told of, and not the case.
std::chrono::seconds evaluation_limit(std::chrono::seconds usual = std::chrono::seconds(100));

// Everything between its beginning and its end is the operator's doing. There is one at a time.
class OperatorGuard {
 public:
  // `problem`, if there is one, is told of. Both outlive the guard.
  OperatorGuard(const UserCode& code, const OpInfo* info, const Problem* problem, std::chrono::seconds limit);
  OperatorGuard(const OperatorGuard&) = delete;
  OperatorGuard& operator=(const OperatorGuard&) = delete;
  ~OperatorGuard();

  [[noreturn]] static void fail(const std::string& what); // "threw ..."
};

class GuardedOp final : public Op {
 public:
  GuardedOp(const Op& op, UserCode code, std::chrono::seconds limit)
      : op_(op), info_(op.info()), code_(std::move(code)), limit_(limit) {}

  const OpInfo& info() const override { return info_; }
  std::vector<Evaluated> evaluate(const Problem& problem, const Instrument& instrument) const override;

 private:
  const Op& op_;
  OpInfo info_; // a copy, as the library's own is gone when the operator calls exit
  UserCode code_;
  std::chrono::seconds limit_;
};

} // namespace assay
