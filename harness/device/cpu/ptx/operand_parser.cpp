// Operands of instructions.
#include "harness/device/cpu/ptx/function_parser.h"

#include <bit>

namespace assay::ptx {
namespace {

constexpr unsigned deepest_operand = 4;
constexpr std::size_t most_parts = 256;

bool is_special(std::string_view name) {
  static constexpr std::string_view names[] = {"%tid",
                                               "%ntid",
                                               "%ctaid",
                                               "%nctaid",
                                               "%laneid",
                                               "%warpid",
                                               "%nwarpid",
                                               "%smid",
                                               "%nsmid",
                                               "%gridid",
                                               "%lanemask_eq",
                                               "%lanemask_le",
                                               "%lanemask_lt",
                                               "%lanemask_ge",
                                               "%lanemask_gt",
                                               "%clock",
                                               "%clock_hi",
                                               "%clock64",
                                               "%globaltimer",
                                               "%globaltimer_lo",
                                               "%globaltimer_hi",
                                               "%total_smem_size",
                                               "%dynamic_smem_size",
                                               "%aggr_smem_size",
                                               "%clusterid",
                                               "%nclusterid",
                                               "%cluster_ctaid",
                                               "%cluster_nctaid",
                                               "%cluster_ctarank",
                                               "%cluster_nctarank",
                                               "%is_explicit_cluster",
                                               "WARP_SZ"};
  for (std::string_view n : names)
    if (n == name) return true;
  return name.starts_with("%envreg") || name.starts_with("%pm") || name.starts_with("%reserved_smem");
}

} // namespace

Result<Operand> FunctionParser::resolve(std::string_view name) {
  Operand operand;
  operand.name = name;
  const Scopes::Found found = scopes_.find(name);
  if (found.reg != no_index) {
    operand.kind = Operand::Kind::reg;
    operand.reg = found.reg;
  } else if (found.variable != no_index) {
    operand.kind = Operand::Kind::symbol;
    operand.variable = found.variable;
  } else if (is_special(name)) {
    operand.kind = Operand::Kind::special;
    if (cursor_.peek().kind == TokenKind::dotted) { // %tid.x
      const std::string_view part = cursor_.take().text;
      operand.name = std::string_view(name.begin(), part.end());
    }
  } else if (name.starts_with('%')) {
    return user_error(cursor_.place(), "register '{}' is not declared", name);
  } else {
    operand.kind = Operand::Kind::symbol;
  }
  return operand;
}

Result<void> FunctionParser::parse_offset(Operand& operand) {
  while (cursor_.is('+') || cursor_.is('-')) {
    const bool plus = cursor_.accept('+');
    if (plus && !cursor_.is('-') && cursor_.peek().kind != TokenKind::integer)
      return cursor_.expected("an offset");
    ASSAY_TRY(const std::uint64_t bits, cursor_.expect_integer("an offset"));
    operand.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(operand.offset) + bits);
  }
  return {};
}

Result<Operand> FunctionParser::parse_address() {
  Operand operand;
  if (cursor_.is_name()) {
    ASSAY_TRY(operand, resolve(cursor_.take().text));
    if (operand.kind == Operand::Kind::special)
      return user_error(cursor_.place(), "a special register cannot be an address");
    ASSAY_TRY_VOID(parse_offset(operand));
  } else {
    ASSAY_TRY(const std::uint64_t bits, cursor_.expect_integer("an address"));
    operand.offset = static_cast<std::int64_t>(bits);
  }
  operand.kind = Operand::Kind::address;
  ASSAY_TRY_VOID(cursor_.expect(']'));
  return operand;
}

Result<Operand> FunctionParser::parse_group(char close, Operand::Kind kind) {
  if (nesting_ == deepest_operand) return user_error(cursor_.place(), "operand is nested too deeply");
  Operand operand;
  operand.kind = kind;
  if (cursor_.accept(close)) return operand;
  ++nesting_;
  do {
    ASSAY_TRY(Operand part, parse_operand());
    operand.parts.push_back(std::move(part));
    if (operand.parts.size() > most_parts)
      return user_error(cursor_.place(), "too many parts in one operand");
  } while (cursor_.accept(','));
  --nesting_;
  ASSAY_TRY_VOID(cursor_.expect(close));
  return operand;
}

Result<Operand> FunctionParser::parse_simple_operand() {
  Operand operand;
  const Token token = cursor_.peek();
  switch (token.kind) {
  case TokenKind::name: {
    cursor_.take();
    if (token.text == "_") return operand;
    ASSAY_TRY(operand, resolve(token.text));
    if (operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::reg)
      ASSAY_TRY_VOID(parse_offset(operand));
    if (operand.kind == Operand::Kind::reg && operand.offset != 0)
      return user_error(cursor_.place(), "a register takes an offset only inside brackets");
    return operand;
  }
  case TokenKind::float32:
  case TokenKind::float64:
    cursor_.take();
    operand.kind = token.kind == TokenKind::float32 ? Operand::Kind::f32 : Operand::Kind::f64;
    operand.bits = token.bits;
    return operand;
  default:
    break;
  }
  if (cursor_.is('-') && cursor_.peek(1).kind == TokenKind::float64) {
    cursor_.take();
    operand.kind = Operand::Kind::f64;
    operand.bits = cursor_.take().bits ^ (std::uint64_t{1} << 63);
    return operand;
  }
  operand.kind = Operand::Kind::integer;
  ASSAY_TRY(operand.bits, cursor_.expect_integer("an operand"));
  return operand;
}

Result<Operand> FunctionParser::parse_operand() {
  if (cursor_.accept('{')) return parse_group('}', Operand::Kind::vector);
  if (cursor_.accept('(')) return parse_group(')', Operand::Kind::list);
  if (cursor_.accept('[')) return parse_address();
  if (cursor_.accept('!')) {
    ASSAY_TRY(Operand operand, parse_simple_operand());
    if (operand.kind != Operand::Kind::reg)
      return user_error(cursor_.place(), "'!' needs a predicate register");
    operand.negated = true;
    return operand;
  }
  ASSAY_TRY(Operand operand, parse_simple_operand());
  if (!cursor_.accept('|')) return operand;
  ASSAY_TRY(Operand second, parse_simple_operand());
  Operand pair;
  pair.kind = Operand::Kind::pair;
  pair.parts.push_back(std::move(operand));
  pair.parts.push_back(std::move(second));
  return pair;
}

} // namespace assay::ptx
