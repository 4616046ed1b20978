#include "harness/device/cuda/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace assay::cuda {

namespace {

std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find("//"));
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

bool is_label(std::string_view line) {
  if (!line.ends_with(':')) return false;
  line.remove_suffix(1);
  return !line.empty() && line.find_first_of(" \t{};,.") == std::string_view::npos;
}

// A label of these is a name for a table or a signature, not a place in the code.
bool is_named_directive(std::string_view line) {
  return line.starts_with(".branchtargets") || line.starts_with(".calltargets") ||
         line.starts_with(".callprototype");
}

bool is_conditional_branch(std::string_view line) {
  if (!line.starts_with('@') || !line.ends_with(';')) return false;
  const std::size_t word = line.find_first_of(" \t");
  return word != std::string_view::npos && trimmed(line.substr(word)).starts_with("bra");
}

class Pass {
 public:
  explicit Pass(std::string_view ptx) {
    for (std::size_t at = 0; at < ptx.size();) {
      const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
      lines_.push_back(ptx.substr(at, end - at));
      at = end + 1;
    }
  }

  CountedPtx run() {
    for (std::size_t i = 0; i < lines_.size(); ++i) take(i);
    if (blocks_ == 0 || declare_at_ == std::string::npos) return {};
    out_.insert(declare_at_, fmt::format(".visible .global .align 8 .b8 {}[{}];\n", block_counters, blocks_));
    return {std::move(out_), blocks_};
  }

 private:
  void take(std::size_t i) {
    const std::string_view line = trimmed(lines_[i]);
    if (comment_ || line.find("/*") != std::string_view::npos) {
      comment_ = line.rfind("*/") == std::string_view::npos;
      return copy(i);
    }
    if (depth_ == 0) return take_outside(i, line);
    if (!begun_ && !line.empty() && line[0] != '.' && line[0] != '}') begin_body();
    copy(i);
    if (is_label(line) && !is_named_directive(next_of(i)))
      count();
    else if (is_conditional_branch(line) && !is_label(next_of(i)))
      count();
    count_braces(line);
  }

  void take_outside(std::size_t i, std::string_view line) {
    if (line.find(".entry") != std::string_view::npos || line.find(".func") != std::string_view::npos)
      function_ = true;
    copy(i);
    if (line.starts_with(".address_size")) declare_at_ = out_.size();
    count_braces(line);
    if (depth_ > 0 && !function_) depth_ = 0; // of an initialiser
    if (depth_ == 0 && line.ends_with(';')) function_ = false;
    begun_ = false;
  }

  // The counter of the function's first block, with the register that all of its counters store.
  void begin_body() {
    begun_ = true;
    out_ += "\t.reg .b16 %assay_hit;\n\tmov.b16 %assay_hit, 1;\n";
    count();
  }

  void count() { out_ += fmt::format("\tst.global.u8 [{}+{}], %assay_hit;\n", block_counters, blocks_++); }

  void count_braces(std::string_view line) {
    for (const char c : line) depth_ += c == '{' ? 1 : c == '}' ? -1 : 0;
    depth_ = std::max(depth_, 0);
    if (depth_ == 0) function_ = function_ && !line.starts_with('}');
  }

  std::string_view next_of(std::size_t i) const {
    while (++i < lines_.size())
      if (const std::string_view line = trimmed(lines_[i]); !line.empty()) return line;
    return {};
  }

  void copy(std::size_t i) { out_.append(lines_[i]).push_back('\n'); }

  std::vector<std::string_view> lines_;
  std::string out_;
  std::size_t declare_at_ = std::string::npos;
  std::uint32_t blocks_ = 0;
  int depth_ = 0;
  bool function_ = false, begun_ = false, comment_ = false;
};

} // namespace

CountedPtx with_block_counters(std::string_view ptx) { return Pass(ptx).run(); }

} // namespace assay::cuda
