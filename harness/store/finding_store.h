// Findings on disk: one folder a signature,
// <out>/<kernel>/<signature>/{original.case,minimized.case,report.json,hits}. Safe with several processes:
// whoever holds the lock in a signature's folder is the one that minimizes it, and a process that dies gives
// its lock back, so that nothing stays claimed.
// A kernel that was mended and is then broken otherwise can fail under the same signature again. What was
// stored before is never overwritten: it moves to <signature>/earlier-<hash>/, whole, and stays a regression
// case that replay and triage find there; <hash> is that of the earlier case's text.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"
#include "harness/numerics/signature.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// The right to write one signature's folder, held until destruction.
class FindingClaim {
 public:
  FindingClaim(std::filesystem::path folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
  FindingClaim(FindingClaim&& other) noexcept;
  FindingClaim& operator=(FindingClaim&& other) noexcept;
  ~FindingClaim();

  // Writes report.json, so that a finding whose minimizing never ends can still be told.
  Result<void> describe(const std::string& report_json) const;

  // Writes report.json, then minimized.case, each atomically: where minimized.case is, the finding is
  // complete.
  Result<void> complete(const Case& minimized, const std::string& report_json) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  int lock_;
};

struct StoredFinding {
  std::filesystem::path folder;
  std::filesystem::path case_file; // minimized.case; original.case where minimizing never ended
  std::string kernel;              // names of the two folders
  std::string signature;
  std::uint64_t hits = 0; // 0: not counted, as of one that was set aside
  bool earlier = false;   // set aside
};

class FindingStore {
 public:
  explicit FindingStore(std::filesystem::path out) : out_(std::move(out)) {}

  std::filesystem::path folder_of(const Signature& signature) const;

  // Counts one hit. The first hit of a signature also stores `original` at once, so that a crash while
  // minimizing loses nothing, and returns the claim. nullopt: it is already stored, or another process is at
  // it. An original of another case, whose minimizing never ended, is set aside first.
  Result<std::optional<FindingClaim>> claim(const Signature& signature, const Case& original) const;

  // The same where the minimized case that is stored, whose text is `outdated`, no longer fails: it is set
  // aside with all that belongs to it. Counts no hit. nullopt: another process has replaced it meanwhile, or
  // is at it.
  Result<std::optional<FindingClaim>> replace(const Signature& signature, const Case& original,
                                              const std::string& outdated) const;

  // Counts further hits of a stored signature, on disk at once, so that no process that is killed, and no two
  // at a time, lose one.
  Result<void> add_hits(const Signature& signature, std::uint64_t count) const;
  Result<std::uint64_t> hits(const Signature& signature) const;

  // Every finding below `out`, those set aside included, ordered by kernel and signature. A folder that is
  // not there holds none.
  Result<std::vector<StoredFinding>> list() const;

 private:
  std::filesystem::path out_;
};

// What to call a finding's case elsewhere: its signature, which is its folder's name; of one set aside with
// that folder's name behind it. Any other file keeps its own name. Without ".case".
std::string name_of_case(const std::filesystem::path& case_file);

} // namespace assay
