// What the screen says of a burst: a case and its neighbours (inputs/neighbours.h), run side by side on the
// GPU. It keeps of each case that is not plainly clean why, and of the others a sample; numbers are enough,
// for the cases can be made again.
#pragma once

#include "harness/inputs/neighbours.h"
#include "harness/screen/fill_layout.h"
#include "harness/screen/layout.h"
#include "harness/screen/waste.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay {

struct ScreenedCase {
  std::uint64_t number = 0; // of the neighbour; of the parent itself nothing
  MemoryRecord memory;
  screen::Record record;

  // Every number well inside every limit, and no memory touched that is not the kernel's.
  bool clean() const { return record.reasons == 0 && memory.flags == 0 && memory.input_sum == 0; }
  // Touched memory, an unwritten element, a wrong exact output: no accident of the numbers.
  bool is_fault() const;
  // Its formula may overflow, or its outputs are off on average, as those of few mantissas are in every right
  // kernel (numerics/bias.h), and nothing speaks for a fault beside that. Little can be told of more of them.
  bool is_wasted() const;
  // By which cases of one burst are alike: reasons below, what happened to memory above.
  std::uint64_t pattern() const;
};

// "gate close, band": for messages and counts.
std::string reasons_text(const ScreenedCase& screened);

// How far the numbers of a record may be compared with the host's.
struct JudgeFacts {
  double golden_unit = 0;     // the device's golden is off by at most this times the element's magnitude
  bool same_reference = true; // its reference has the very bits of the host's (source.h: has_functions)
};

class Burst {
 public:
  // Of each pattern that is not clean and of the clean ones so many are kept.
  static constexpr std::size_t kept_of_a_pattern = 16, kept_clean = 64;

  Burst(Neighbours neighbours, std::uint64_t seed)
      : neighbours_(std::move(neighbours)), luck_(seed), drawn_(neighbours_.inputs()) {}

  void add_parent(const ScreenedCase& screened) { parent_ = screened; }
  void add(const ScreenedCase& screened); // drawn from neighbours() as they are
  // Neighbours from `from` on, none of which is drawn yet, mostly do without what wastes them as far as that
  // is known of those added. False: nearly all that already do without as much were wasted all the same.
  bool learn(std::uint64_t from);
  // The launches of these could not be brought to an end, and nothing is known of any of them.
  void add_lost(std::uint64_t first, std::uint64_t count, std::string why);

  const Neighbours& neighbours() const { return neighbours_; }
  Case case_of(const ScreenedCase& screened) const { return neighbours_.make(screened.number); }

  // Nothing: the GPU cannot fill the parent's inputs.
  const std::optional<ScreenedCase>& parent() const { return parent_; }
  std::uint64_t screened() const { return clean_ + flagged_; } // neighbours; the parent is not counted
  std::uint64_t clean() const { return clean_; }
  std::uint64_t flagged() const { return flagged_; }
  std::uint64_t wasted() const { return wasted_; } // of those flagged
  // Of each pattern that is not clean: how often, and some of them, those with the largest ratios.
  struct Flagged {
    std::uint64_t count = 0;
    std::vector<ScreenedCase> kept; // the largest ratio first
  };
  // What cannot be an accident of the numbers first, then what came close to a limit, then what the screen
  // cannot judge.
  std::vector<const Flagged*> by_weight() const;
  const std::vector<ScreenedCase>& sample() const { return sample_; } // clean ones, drawn at random
  // The neighbour with the largest ratio among those whose gates are valid.
  const std::optional<ScreenedCase>& best() const { return best_; }

  struct Lost {
    std::uint64_t first = 0, count = 0; // neighbours
    std::string why;
  };
  const std::optional<Lost>& lost() const { return lost_; }

  JudgeFacts facts;
  double seconds = 0;               // from the first case to the last record
  std::vector<double> step_seconds; // of each step, where asked for
  std::vector<std::string> step_names;
  std::uint64_t twins = 0; // ran a second time, in the second world

 private:
  Neighbours neighbours_;
  Rng luck_;
  std::optional<ScreenedCase> parent_, best_;
  std::uint64_t clean_ = 0, flagged_ = 0, wasted_ = 0;
  std::map<std::uint64_t, Flagged> flagged_by_;
  std::vector<ScreenedCase> sample_;
  std::optional<Lost> lost_;

  Waste waste_;
  std::set<Piece> avoided_; // by neighbours from `since_` on
  std::uint64_t since_ = 0, seen_since_ = 0, wasted_since_ = 0;
  std::vector<FillInput> drawn_;
  std::vector<Piece> pieces_;
};

} // namespace assay
