// What of one kernel's campaign is on disk beside its findings, <out>/<kernel>/campaign/: a lock, what was
// asked for, and (fuzz/status.h) the workers' counts. A campaign that was killed is taken up from it.
#pragma once

#include "harness/base/error.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay {

class CampaignFolder {
 public:
  // Creates the folder where it is missing and locks it, until destruction. It cannot be written, or another
  // campaign has it: a user error.
  static Result<CampaignFolder> take(const std::filesystem::path& folder);

  CampaignFolder(CampaignFolder&& other) noexcept
      : folder_(std::move(other.folder_)), lock_(std::exchange(other.lock_, -1)) {}
  CampaignFolder& operator=(CampaignFolder&& other) noexcept;
  ~CampaignFolder();

  struct Record {
    std::string command; // what was asked for, and of which version of the kernel
    std::uint64_t seed = 0;
    bool ended = false;    // it has done all that it was asked for
    std::size_t units = 0; // of the corpus, when it was last pruned
    struct Death {
      std::string how, culprit; // the case that was in work; empty: none
      bool operator==(const Death&) const = default;
    };
    std::vector<Death> deaths = {}; // of workers
  };
  std::optional<Record> read() const; // nothing: there is none, or none that can be read
  Result<void> write(const Record& record) const;

  const std::filesystem::path& path() const { return folder_; }

 private:
  CampaignFolder(std::filesystem::path folder, int lock) : folder_(std::move(folder)), lock_(lock) {}

  std::filesystem::path folder_;
  int lock_ = -1;
};

// Removes what writers that were killed or met a full disk left behind: temporary files below `folder`.
void remove_leftovers(const std::filesystem::path& folder);

// Removes a corpus's half-written units: files with libFuzzer's names (40 hex digits) that are no case.
// Returns how many there were.
Result<std::size_t> mend_corpus(const std::filesystem::path& folder);

// Files of a corpus that are no case: a search leaves them out.
struct BrokenUnits {
  std::size_t count = 0;
  std::string first; // what is wrong with one of them, and where
};
Result<BrokenUnits> broken_units(const std::filesystem::path& corpus);

} // namespace assay
