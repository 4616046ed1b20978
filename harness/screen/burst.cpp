#include "harness/screen/burst.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace assay {

namespace {

using screen::Reason;

constexpr std::uint64_t band_bit = std::uint64_t{1} << 32, unwritten_bit = std::uint64_t{1} << 33,
                        world_bit = std::uint64_t{1} << 34, input_bit = std::uint64_t{1} << 35;

struct Word {
  std::uint64_t bit;
  const char* text;
};
constexpr Word words[] = {{band_bit, "a guard band"},
                          {unwritten_bit, "an unwritten element"},
                          {input_bit, "a changed input"},
                          {world_bit, "a twin that differs"},
                          {Reason::misplaced, "NaN or infinity out of place"},
                          {Reason::mismatch, "an exact output"},
                          {Reason::gate_close, "a gate"},
                          {Reason::ulp_close, "representable values"},
                          {Reason::bias_close, "a mean error"},
                          {Reason::gate_invalid, "a gate that is not valid"},
                          {Reason::overflow, "a formula that may overflow"},
                          {Reason::line_unclear, "lines that are not clear"},
                          {Reason::no_scratch, "too little scratch"},
                          {Reason::not_judged, "not judged"}};

constexpr std::uint64_t hard = band_bit | unwritten_bit | world_bit | input_bit | Reason::mismatch;
constexpr std::uint64_t unjudgeable =
    Reason::gate_invalid | Reason::overflow | Reason::line_unclear | Reason::no_scratch | Reason::not_judged;

// The smaller, the sooner the host looks at it.
int weight_of(std::uint64_t pattern) {
  if ((pattern & hard) != 0) return 0;
  if ((pattern & unjudgeable) != 0) return 3; // the formula's overflow excuses a NaN
  return (pattern & Reason::misplaced) != 0 ? 1 : 2;
}

// No use to go on: 7 of 8 wasted, of so many.
constexpr std::uint64_t enough_wasted = 64;

bool larger_ratio(const ScreenedCase& a, const ScreenedCase& b) { return a.record.ratio > b.record.ratio; }

} // namespace

std::uint64_t ScreenedCase::pattern() const {
  return record.reasons | (memory.flags & memory_flag::band ? band_bit : 0) |
         (memory.flags & memory_flag::unwritten ? unwritten_bit : 0) |
         (memory.flags & memory_flag::world ? world_bit : 0) |
         (memory.input_sum != 0 || (memory.flags & memory_flag::twin_input) != 0 ? input_bit : 0);
}

bool ScreenedCase::is_fault() const { return (pattern() & hard) != 0; }

bool ScreenedCase::is_wasted() const {
  return pattern() == Reason::bias_close ||
         (pattern() & (hard | Reason::misplaced | Reason::overflow)) == Reason::overflow;
}

std::string reasons_text(const ScreenedCase& screened) {
  std::vector<const char*> texts;
  for (const Word& word : words)
    if ((screened.pattern() & word.bit) != 0) texts.push_back(word.text);
  return texts.empty() ? "clean" : fmt::format("{}", fmt::join(texts, ", "));
}

bool Burst::learn(std::uint64_t from) {
  if (const std::set<Piece> culprits = waste_.culprits(); culprits != avoided_) {
    neighbours_.avoid(from, culprits);
    avoided_ = culprits;
    since_ = from;
    seen_since_ = wasted_since_ = 0;
  }
  return seen_since_ < enough_wasted || 8 * wasted_since_ < 7 * seen_since_;
}

void Burst::add(const ScreenedCase& screened) {
  const bool wasted = screened.is_wasted();
  if (!waste_.is_full()) {
    neighbours_.draw(screened.number, drawn_);
    pieces_of(drawn_, pieces_);
    waste_.add(pieces_, wasted);
  }
  wasted_ += wasted;
  if (screened.number >= since_) {
    ++seen_since_;
    wasted_since_ += wasted;
  }
  const std::uint64_t pattern = screened.pattern();
  if ((pattern & (hard | unjudgeable | Reason::misplaced)) == 0 && std::isfinite(screened.record.ratio) &&
      (!best_ || larger_ratio(screened, *best_)))
    best_ = screened;
  if (pattern == 0) {
    ++clean_;
    if (sample_.size() < kept_clean)
      sample_.push_back(screened);
    else if (const std::uint64_t place = luck_.below(clean_); place < kept_clean)
      sample_[place] = screened;
    return;
  }
  ++flagged_;
  Flagged& alike = flagged_by_[pattern];
  ++alike.count;
  if (alike.kept.size() == kept_of_a_pattern && !larger_ratio(screened, alike.kept.back())) return;
  alike.kept.insert(std::ranges::upper_bound(alike.kept, screened, larger_ratio), screened);
  if (alike.kept.size() > kept_of_a_pattern) alike.kept.pop_back();
}

void Burst::add_lost(std::uint64_t first, std::uint64_t count, std::string why) {
  lost_ = Lost{first, count, std::move(why)};
}

std::vector<const Burst::Flagged*> Burst::by_weight() const {
  std::map<std::pair<int, std::uint64_t>, const Flagged*> order;
  for (const auto& [pattern, alike] : flagged_by_) order[{weight_of(pattern), pattern}] = &alike;
  std::vector<const Flagged*> result;
  for (const auto& entry : order) result.push_back(entry.second);
  return result;
}

} // namespace assay
