#include "harness/device/cpu/emit/blocks.h"

#include <map>
#include <optional>
#include <string>

namespace assay::cpu {
namespace {

using ptx::Instruction;
using ptx::Operand;

bool is_call(const Instruction& i) { return i.opcode == "call"; }

bool is_ender(const Instruction& i) {
  return i.opcode == "bra" || i.opcode == "brx" || i.opcode == "ret" || i.opcode == "exit" ||
         i.opcode == "trap";
}

// The position that a branch added by branch_around_guarded_waits names.
std::optional<std::uint64_t> position_named(const Instruction& i) {
  if (i.opcode != "bra" || i.operands.size() != 1 || i.operands[0].kind != Operand::Kind::integer)
    return std::nullopt;
  return i.operands[0].bits;
}

bool same_operand(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.reg == b.reg && a.bits == b.bits && a.name == b.name;
}

// The operand that names the lanes of a warp-level synchronisation.
const Operand* member_mask(const Instruction& i) { return i.operands.empty() ? nullptr : &i.operands.back(); }

class Splitter {
 public:
  Splitter(const ptx::Function& function, std::string_view origin) : function_(function), origin_(origin) {}

  Result<std::vector<Block>> run() {
    const auto count = static_cast<std::uint32_t>(function_.instructions.size());
    label_at_.assign(count + 1, false);
    for (const ptx::Label& label : function_.labels) {
      label_at_[label.position] = true;
      labels_[{label.scope, label.name}] = label.position;
    }
    for (const Instruction& i : function_.instructions)
      if (const auto target = position_named(i)) label_at_[*target] = true;
    for (std::uint32_t i = 0; i < count; ++i) ASSAY_TRY_VOID(place(i));
    if (open_ || blocks_.empty() || label_at_[count]) { // running off the end returns
      if (!open_ || label_at_[count]) begin(count);
      close(Ending::returns, ptx::no_index);
    }
    ASSAY_TRY_VOID(link());
    return std::move(blocks_);
  }

 private:
  const Instruction& at(std::uint32_t i) const { return function_.instructions[i]; }
  Place place_of(const Instruction& i) const { return {std::string(origin_), static_cast<int>(i.line), 0}; }

  void begin(std::uint32_t position) {
    if (open_) {
      blocks_.back().successors = {static_cast<std::uint32_t>(blocks_.size())};
      blocks_.back().end = position;
    }
    Block block;
    block.first = block.end = position;
    start_of_.try_emplace(position, static_cast<std::uint32_t>(blocks_.size()));
    blocks_.push_back(std::move(block));
    open_ = true;
    gathered_ = nullptr;
    all_gathered_ = false;
  }

  void close(Ending ending, std::uint32_t ender) {
    blocks_.back().ending = ending;
    blocks_.back().ender = ender;
    open_ = false;
  }

  Result<void> place(std::uint32_t i) {
    const Instruction& instruction = at(i);
    if (!open_ || label_at_[i]) begin(i);
    const Wait wait = wait_of(instruction);
    if (wait != Wait::none && !gathered(instruction, wait)) {
      if (blocks_.back().first != i) begin(i);
      blocks_.back().wait = wait;
      all_gathered_ = wait == Wait::all;
      gathered_ = wait == Wait::named ? member_mask(instruction) : nullptr;
    }
    if (is_ender(instruction)) return end_block(i);
    blocks_.back().end = i + 1;
    if (is_call(instruction)) { // lanes may have exited inside
      gathered_ = nullptr;
      all_gathered_ = false;
    }
    return {};
  }

  bool gathered(const Instruction& instruction, Wait wait) const {
    if (wait == Wait::nobody_else_runs) return false;
    if (all_gathered_) return true;
    return wait == Wait::named && gathered_ && gathered_->kind == Operand::Kind::integer &&
           same_operand(*gathered_, *member_mask(instruction));
  }

  Result<void> end_block(std::uint32_t i) {
    const Instruction& instruction = at(i);
    Block& block = blocks_.back();
    block.end = i;
    block.condition = instruction.guard;
    block.condition_negated = instruction.guard_negated;
    const bool conditional = block.condition != ptx::no_index;
    if (instruction.opcode == "ret" || instruction.opcode == "exit") {
      close(instruction.opcode == "ret" ? Ending::returns : Ending::exits, i);
    } else if (instruction.opcode == "trap") {
      close(Ending::traps, i);
    } else if (instruction.opcode == "brx") {
      close(Ending::table, i);
    } else {
      close(conditional ? Ending::branches : Ending::jumps, i);
    }
    if (conditional) {
      skips_.emplace_back(static_cast<std::uint32_t>(blocks_.size() - 1), i + 1);
      label_at_[i + 1] = true;
    }
    return {};
  }

  Result<std::uint32_t> find_label(const Instruction& from, std::string_view name) const {
    for (std::uint32_t scope = from.scope; scope != ptx::no_index; scope = function_.scope_parents[scope])
      if (const auto it = labels_.find({scope, name}); it != labels_.end()) return start_of_.at(it->second);
    return user_error(place_of(from), "label '{}' is not defined", name);
  }

  Result<void> link_table(Block& block, const Instruction& ender) {
    if (ender.operands.size() != 2)
      return user_error(place_of(ender), "brx.idx needs an index and a list of targets");
    for (std::uint32_t scope = ender.scope; scope != ptx::no_index; scope = function_.scope_parents[scope])
      for (const ptx::BranchTargets& targets : function_.branch_targets)
        if (targets.scope == scope && targets.name == ender.operands[1].name) {
          for (const std::string_view label : targets.labels) {
            ASSAY_TRY(const std::uint32_t target, find_label(ender, label));
            block.successors.push_back(target);
          }
          return {};
        }
    return user_error(place_of(ender), "branch targets '{}' are not defined", ender.operands[1].name);
  }

  Result<void> link() {
    for (Block& block : blocks_) {
      if (block.ender == ptx::no_index) continue;
      const Instruction& ender = at(block.ender);
      if (const auto position = position_named(ender)) {
        block.successors = {start_of_.at(static_cast<std::uint32_t>(*position))};
      } else if (ender.opcode == "bra") {
        if (ender.operands.size() != 1 || ender.operands[0].kind != Operand::Kind::symbol)
          return user_error(place_of(ender), "bra needs a label");
        ASSAY_TRY(const std::uint32_t target, find_label(ender, ender.operands[0].name));
        block.successors = {target};
      } else if (block.ending == Ending::table) {
        ASSAY_TRY_VOID(link_table(block, ender));
      }
    }
    for (const auto& [block, position] : skips_) {
      const std::uint32_t next = start_of_.at(position);
      blocks_[block].successors.push_back(next);
    }
    return {};
  }

  const ptx::Function& function_;
  std::string_view origin_;
  std::vector<Block> blocks_;
  std::vector<bool> label_at_;
  std::map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> labels_;
  std::map<std::uint32_t, std::uint32_t> start_of_;            // position to the block that begins there
  std::vector<std::pair<std::uint32_t, std::uint32_t>> skips_; // block, position where its other lanes go on
  bool open_ = false;
  const Operand* gathered_ = nullptr; // named lanes are all here
  bool all_gathered_ = false;
};

} // namespace

Wait wait_of(const ptx::Instruction& i) {
  if (i.opcode == "shfl" || i.opcode == "match" || i.opcode == "redux" || i.opcode == "elect")
    return Wait::named;
  if (i.opcode == "vote") return i.has("sync") ? Wait::named : Wait::none;
  if (i.opcode == "ldmatrix" || i.opcode == "stmatrix" || i.opcode == "mma" || i.opcode == "wmma" ||
      i.opcode == "movmatrix")
    return Wait::all;
  if (i.opcode == "bar" || i.opcode == "barrier") {
    if (i.has("warp")) return Wait::named;
    return i.opcode == "bar" || i.has("aligned") ? Wait::all : Wait::nobody_else_runs;
  }
  return Wait::none;
}

Result<std::vector<Block>> split_blocks(const ptx::Function& function, std::string_view origin) {
  return Splitter(function, origin).run();
}

} // namespace assay::cpu
