#include "harness/device/cpu/ptx/parser.h"

#include "harness/device/cpu/ptx/function_parser.h"

#include <charconv>

namespace assay::ptx {
namespace {

constexpr std::uint64_t most_files = 65536;
// As CUDA 13 has them (PTX ISA, "Release Notes" and ".target"), with room for its later releases.
constexpr unsigned oldest_version = 3, newest_version = 9;
constexpr unsigned oldest_target = 30, newest_target = 129;

// "8.7"
bool is_known_version(std::string_view text) {
  return text.size() == 3 && text[0] >= '0' + static_cast<int>(oldest_version) &&
         text[0] <= '0' + static_cast<int>(newest_version) && text[1] == '.' && text[2] >= '0' &&
         text[2] <= '9';
}

// "sm_90", "sm_90a", "sm_120f"
bool is_known_target(std::string_view text) {
  if (!text.starts_with("sm_")) return false;
  text.remove_prefix(3);
  unsigned number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  return failure == std::errc() && number >= oldest_target && number <= newest_target &&
         (suffix.empty() || suffix == "a" || suffix == "f");
}

class ModuleParser {
 public:
  ModuleParser(Cursor cursor, Module& module) : cursor_(std::move(cursor)), module_(module) {}

  Result<void> run() {
    ASSAY_TRY_VOID(parse_header());
    while (!cursor_.at_end()) ASSAY_TRY_VOID(parse_item());
    return {};
  }

 private:
  Result<void> parse_header() {
    if (!cursor_.accept_dotted("version")) return cursor_.expected("'.version' at the start of PTX");
    if (!is_known_version(cursor_.peek().text))
      return environment_error(cursor_.place(), "PTX version {} is not supported: {}.0 to {}.9 are",
                               cursor_.peek().text, oldest_version, newest_version);
    module_.version = cursor_.take().text;
    if (!cursor_.accept_dotted("target")) return cursor_.expected("'.target'");
    const Place place = cursor_.place();
    ASSAY_TRY(module_.target, cursor_.expect_name("a target such as sm_90"));
    if (!is_known_target(module_.target))
      return environment_error(place, "target '{}' is not supported: sm_{} to sm_{} are", module_.target,
                               oldest_target, newest_target);
    while (cursor_.accept(',')) ASSAY_TRY_VOID(cursor_.expect_name("a target option"));
    if (!cursor_.accept_dotted("address_size")) return cursor_.expected("'.address_size'");
    ASSAY_TRY(const std::uint64_t bits, cursor_.expect_integer("64"));
    if (bits != 64)
      return user_error(cursor_.place(), "'.address_size {}' is not supported; it must be 64", bits);
    return {};
  }

  Result<void> parse_item() {
    if (cursor_.accept(';')) return {};
    bool external = false;
    while (cursor_.is_dotted("visible") || cursor_.is_dotted("extern") || cursor_.is_dotted("weak") ||
           cursor_.is_dotted("common")) {
      if (cursor_.is_dotted("extern")) external = true;
      cursor_.take();
    }
    if (cursor_.is_name() && cursor_.is(':', 1)) return skip_statement(); // a prototype at module level
    if (cursor_.peek().kind != TokenKind::dotted) return cursor_.expected("a directive");
    const std::string_view text = cursor_.take().text;
    if (text == "file") return parse_file();
    if (text == "global") return parse_variables(Space::global, external);
    if (text == "const") return parse_variables(Space::constant, external);
    if (text == "shared") return parse_variables(Space::shared, external);
    if (text == "entry" || text == "func") return parse_function(text == "entry", external);
    if (text == "section") return skip_section();
    if (text == "pragma" || text == "alias") return skip_statement();
    return user_error(cursor_.place(), "'.{}' has no place at module level", text);
  }

  Result<void> skip_statement() {
    while (!cursor_.at_end() && !cursor_.is(';')) cursor_.take();
    return cursor_.expect(';');
  }

  Result<void> skip_section() {
    while (!cursor_.at_end() && !cursor_.is('{')) cursor_.take();
    ASSAY_TRY_VOID(cursor_.expect('{'));
    while (!cursor_.at_end() && !cursor_.is('}')) cursor_.take();
    return cursor_.expect('}');
  }

  Result<void> parse_file() {
    ASSAY_TRY(const std::uint64_t number, cursor_.expect_integer("a file number"));
    if (cursor_.peek().kind != TokenKind::string) return cursor_.expected("a file name in quotes");
    if (number == 0 || number > most_files)
      return user_error(cursor_.place(), "file number {} is not between 1 and {}", number, most_files);
    if (module_.files.size() <= number) module_.files.resize(number + 1);
    module_.files[number] = std::string(cursor_.take().text);
    while (cursor_.accept(',')) ASSAY_TRY_VOID(cursor_.expect_integer("a time or size"));
    return {};
  }

  Result<void> parse_variables(Space space, bool external) {
    do {
      ASSAY_TRY(Variable variable, parse_variable(cursor_, space));
      variable.external = external;
      module_.variables.push_back(std::move(variable));
    } while (cursor_.accept(','));
    return cursor_.expect(';');
  }

  // ( .param .b32 a, .param .b64 b ); registers are the old style.
  Result<void> parse_parameters(Function& function, std::vector<Variable>& into) {
    ASSAY_TRY_VOID(cursor_.expect('('));
    if (cursor_.accept(')')) return {};
    do {
      const bool in_register = !function.entry && cursor_.accept_dotted("reg");
      if (!in_register && !cursor_.accept_dotted("param")) return cursor_.expected("'.param'");
      ASSAY_TRY(Variable variable, parse_variable(cursor_, Space::param));
      if (in_register) {
        variable.in_register = static_cast<std::uint32_t>(function.registers.size());
        function.registers.push_back({variable.type});
      }
      into.push_back(std::move(variable));
    } while (cursor_.accept(','));
    return cursor_.expect(')');
  }

  Result<std::array<std::uint32_t, 3>> parse_three() {
    std::array<std::uint32_t, 3> extents{1, 1, 1};
    for (std::size_t i = 0; i < 3; ++i) {
      ASSAY_TRY(const std::uint64_t value, cursor_.expect_integer("a number of threads"));
      if (value == 0 || value > 1024)
        return user_error(cursor_.place(), "{} is not between 1 and 1024", value);
      extents[i] = static_cast<std::uint32_t>(value);
      if (!cursor_.accept(',')) break;
    }
    return extents;
  }

  Result<void> parse_performance(Function& function) {
    while (cursor_.peek().kind == TokenKind::dotted) {
      const std::string_view text = cursor_.take().text;
      if (text == "reqntid") {
        ASSAY_TRY(function.required_block, parse_three());
      } else if (text == "maxntid") {
        ASSAY_TRY(const auto extents, parse_three());
        function.max_block_threads = extents[0] * extents[1] * extents[2];
      } else if (text == "minnctapersm" || text == "maxnreg" || text == "maxnctapersm" ||
                 text == "abi_preserve" || text == "abi_preserve_control" || text == "maxclusterrank") {
        ASSAY_TRY_VOID(cursor_.expect_integer("a number"));
      } else if (text == "pragma") {
        ASSAY_TRY_VOID(skip_statement());
      } else if (text == "reqnctapercluster" || text == "explicitcluster") {
        return environment_error(cursor_.place(), "clusters ('.{}') are not supported by the CPU device",
                                 text);
      } else if (text != "noreturn" && text != "unified") {
        return user_error(cursor_.place(), "'.{}' has no place before a function's body", text);
      }
    }
    return {};
  }

  Result<void> parse_function(bool entry, bool external) {
    Function function;
    function.entry = entry;
    function.line = static_cast<std::uint32_t>(cursor_.peek().line);
    if (cursor_.accept_dotted("attribute")) {
      while (!cursor_.at_end() && !cursor_.accept(')')) cursor_.take();
    }
    if (!entry && cursor_.is('(')) ASSAY_TRY_VOID(parse_parameters(function, function.results));
    ASSAY_TRY(function.name, cursor_.expect_name("a function's name"));
    if (cursor_.is('(')) ASSAY_TRY_VOID(parse_parameters(function, function.params));
    ASSAY_TRY_VOID(parse_performance(function));
    if (cursor_.is('{')) {
      if (external) return user_error(cursor_.place(), "extern function '{}' has a body", function.name);
      function.defined = true;
      ASSAY_TRY_VOID(FunctionParser(cursor_, function).parse_body());
    } else {
      ASSAY_TRY_VOID(cursor_.expect(';'));
    }
    return add(std::move(function));
  }

  Result<void> add(Function function) {
    for (Function& other : module_.functions) {
      if (other.name != function.name) continue;
      if (other.defined && function.defined)
        return user_error(cursor_.place(), "function '{}' is defined twice", function.name);
      if (function.defined) other = std::move(function);
      return {};
    }
    module_.functions.push_back(std::move(function));
    return {};
  }

  Cursor cursor_;
  Module& module_;
};

} // namespace

Result<Module> parse(std::string text, std::string_view origin) {
  Module module;
  module.text = std::make_shared<const std::string>(std::move(text));
  module.origin = origin;
  ASSAY_TRY(std::vector<Token> tokens, tokenize(*module.text, module.origin));
  ASSAY_TRY_VOID(ModuleParser(Cursor(std::move(tokens), module.origin), module).run());
  return module;
}

} // namespace assay::ptx
