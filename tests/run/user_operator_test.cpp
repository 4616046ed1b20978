// Users' own operators: what their headers may get wrong, each in one line at its place.
#include "harness/base/child_process.h"
#include "harness/run/user_operator.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

// What changes from header to header: tensors, forward, backward.
std::string header(const std::string& name, const std::string& tensors, const std::string& body) {
  return "#pragma once\n"
         "#include \"harness/ops/formula.h\"\n"
         "namespace assay {\n"
         "struct Twice {\n"
         "  static constexpr auto name = \"" +
         name +
         "\";\n"
         "  static constexpr Dim n{0, \"n\"};\n"
         "  static constexpr Dim dims[] = {n};\n" +
         tensors + body + "};\n}\n";
}

const std::string tensors = "  static constexpr auto x = TensorSpec::input(0, \"x\", \"n\");\n"
                            "  static constexpr auto y = TensorSpec::output(1, \"y\", \"n\");\n"
                            "  static constexpr auto grad_y = TensorSpec::upstream(2, \"grad_y\", y);\n"
                            "  static constexpr auto grad_x = TensorSpec::gradient(3, \"grad_x\", x);\n"
                            "  static constexpr TensorSpec tensors[] = {x, y, grad_y, grad_x};\n";

std::string formula(const std::string& count, const std::string& value, const std::string& slope) {
  const auto pass = [&](const char* name, const char* out, const std::string& v) {
    return std::string("  template <class Run> static void ") + name +
           "(Run& run) {\n    run.line([](auto& line) {\n      line.each(" + count +
           ", [&](auto i) { line.store(" + out + ", {i}, " + v + "); });\n    });\n  }\n";
  };
  return pass("forward", "y", value) + pass("backward", "grad_x", slope);
}

const std::string right = formula("line.size(n)", "2 * line.load(x, {i})", "2 * line.load(grad_y, {i})");

class UserOperator : public ::testing::Test {
 protected:
  Result<const Op*> load(const std::string& text, const std::string& file = "twice.h") {
    return load_user_operator(folder_.write(file, text), folder_ / "cache");
  }
  std::string fault(const std::string& text, const std::string& file = "twice.h") {
    const auto op = load(text, file);
    EXPECT_FALSE(op);
    if (op) return {};
    EXPECT_EQ(op.error().kind, ErrorKind::user);
    std::string message = to_string(op.error());
    const std::string place = folder_.path().string() + "/";
    EXPECT_TRUE(message.starts_with(place)) << message;
    return message.substr(std::min(place.size(), message.size()));
  }
  TemporaryFolder folder_;
};

TEST_F(UserOperator, IsEvaluatedByEveryInstrument) {
  const auto op = load(header("twice", tensors, right));
  ASSERT_TRUE(op) << to_string(op.error());
  Tensor x{.dtype = DType::f32, .shape = {2}, .bytes = std::vector<std::byte>(8)};
  const float values[] = {1.5F, -3.0F};
  std::memcpy(x.bytes.data(), values, sizeof(values));
  Problem problem{.dims = {2}, .params = {}, .tensors = {&x}};
  problem.dtype = DType::f32;
  for (const auto number :
       {Instrument::Number::golden, Instrument::Number::plain, Instrument::Number::noise}) {
    Instrument instrument;
    instrument.number = number;
    const auto y = (*op)->evaluate(problem, instrument);
    EXPECT_EQ(y.at(0).value, (std::vector<double>{3, -6}));
  }
  EXPECT_EQ((*op)->info().name, "twice");
  EXPECT_TRUE((*op)->info().has_backward);
}

TEST_F(UserOperator, WhatDoesNotCompileIsToldAtItsLine) {
  EXPECT_THAT(fault(header("twice", tensors, formula("line.size(n)", "2 * line.laod(x, {i})", "2"))),
              HasSubstr("twice.h:15:73: no member named 'laod'"));
}

TEST_F(UserOperator, TheStructIsCalledAfterTheFile) {
  EXPECT_EQ(fault(header("twice", tensors, right), "my_op.h"),
            "my_op.h: defines no struct assay::MyOp, which an operator in my_op.h is called");
}

TEST_F(UserOperator, SoIsTheOperator) {
  EXPECT_EQ(fault(header("double", tensors, right)),
            "twice.h:5: the operator's name is \"double\", and its file is called twice.h");
}

TEST_F(UserOperator, DeclarationsAreChecked) {
  std::string text = tensors;
  text.replace(text.find("\"y\", \"n\""), 8, "\"y\", \"m\"");
  EXPECT_EQ(fault(header("twice", text, right)),
            "twice.h:9: the shape \"m\" of y has 'm', which is neither a dim nor a number");
}

TEST_F(UserOperator, AGradientThatIsNoDerivativeIsRefused) {
  EXPECT_THAT(fault(header("twice", tensors,
                           formula("line.size(n)", "2 * line.load(x, {i})", "line.load(grad_y, {i})"))),
              HasSubstr("twice.h:11: backward's grad_x is not the derivative of forward: element 0 is "));
}

TEST_F(UserOperator, AFormulaThatLeavesElementsOutIsRefused) {
  const std::string text = header(
      "twice", tensors, formula("line.size(n) - 1", "2 * line.load(x, {i})", "2 * line.load(grad_y, {i})"));
  EXPECT_EQ(fault(text), "twice.h: the formula stores nothing into element 2 of y's 3");
}

TEST_F(UserOperator, SoIsOneThatReadsOutsideATensor) {
  const std::string text = header(
      "twice", tensors, formula("line.size(n)", "2 * line.load(x, {i + 1})", "2 * line.load(grad_y, {i})"));
  EXPECT_THAT(fault(text), HasSubstr("twice.h: the formula leaves tensor x: element 3 of 3"));
}

// What TWICE_DOES in the environment says, so that one compilation serves all; "at 5 ..." only where n is 5.
const std::string misbehaving = R"cpp(#pragma once
#include <csignal>
#include <cstdlib>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <unistd.h>
inline int deeper(int depth) {
  volatile char room[512];
  room[depth % 512] = 1;
  return deeper(depth + 1) + room[depth % 512];
}
inline void misbehave(long long n) {
  const char* const variable = std::getenv("TWICE_DOES");
  std::string_view what = variable == nullptr ? "" : variable;
  if (what.starts_with("at 5 ")) what.remove_prefix(n == 5 ? 5 : what.size());
  volatile int zero = 0;
  int* volatile nowhere = nullptr;
  if (what == "read") zero = *nowhere; // read
  if (what == "write") *nowhere = 1; // write
  if (what == "divide") zero = static_cast<int>(n) / zero; // divide
  if (what == "recurse") zero = deeper(zero);
  if (what == "abort") std::abort(); // abort
  if (what == "throw") throw std::runtime_error("no\n more");
  if (what == "throw 1") throw 1;
  if (what == "exit") std::exit(0);
  if (what == "_exit") _exit(0);
  if (what == "kill") kill(getpid(), 9);
  if (what == "loop") while (zero == 0) {} // loop
  if (what == "trap") __builtin_trap(); // trap
  if (what == "print") std::printf("a result\n");
}
)cpp";

struct Misdeed {
  const char* does;
  const char* line; // what stands at the end of the header's; none: it is not told
  const char* told;
};

class MisbehavingOperator : public UserOperator {
 protected:
  MisbehavingOperator() {
    const std::string body = formula("line.size(n)", "(misbehave(line.size(n)), 2 * line.load(x, {i}))",
                                     "2 * line.load(grad_y, {i})");
    text_ = misbehaving + header("twice", tensors, body).substr(std::strlen("#pragma once\n"));
    ::setenv("ASSAY_OPERATOR_SECONDS", "1", 1);
  }
  ~MisbehavingOperator() override { ::unsetenv("ASSAY_OPERATOR_SECONDS"); }

  // In a process of its own, as each load is the process's only one. The operator is evaluated with n = 5
  // where it could be loaded.
  ForkedRun run(const std::string& does) {
    const auto work = [&]() -> std::string {
      ::setenv("TWICE_DOES", does.c_str(), 1);
      const auto op = load(text_);
      if (!op) return fmt::format("{} {}", exit_code(op.error().kind), to_string(op.error()));
      Tensor x{.dtype = DType::f32, .shape = {5}, .bytes = std::vector<std::byte>(20)};
      Problem problem{.dims = {5}, .params = {}, .tensors = {&x}};
      static_cast<void>((*op)->evaluate(problem, {}));
      return "fine";
    };
    const auto ran = run_forked(work, {});
    EXPECT_TRUE(ran);
    return ran.value_or(ForkedRun{});
  }
  std::string place(const Misdeed& misdeed) const {
    const std::string file = (folder_ / "twice.h");
    if (*misdeed.line == '\0') return file + ": ";
    const std::size_t at = text_.find(std::string("// ") + misdeed.line + "\n");
    return fmt::format("{}:{}: ", file,
                       1 + std::count(text_.begin(), text_.begin() + static_cast<long>(at), '\n'));
  }
  std::string text_;
};

TEST_F(MisbehavingOperator, IsRefusedWithWhatItDidAndWhere) {
  const Misdeed table[] = {
      {"read", "read", "the operator read address 0x0 at n=3 (forward, f32)"},
      {"write", "write", "the operator wrote to address 0x0 at n=3 (forward, f32)"},
      {"divide", "divide", "the operator divided an integer by zero at n=3 (forward, f32)"},
      {"recurse", "",
       "the operator used up its stack (does it call itself without end?) at n=3 (forward, f32)"},
      {"abort", "abort",
       "the operator called abort (as a failed assert does, or an exception where none may be thrown) at n=3 "
       "(forward, f32)"},
      {"throw", "", "the operator threw an exception: no\\n more at n=3 (forward, f32)"},
      {"throw 1", "", "the operator threw an exception at n=3 (forward, f32)"},
      {"exit", "", "the operator called exit at n=3 (forward, f32)"},
      {"_exit", "", "the operator, tried on small inputs, called _exit"},
      {"kill", "", "the operator, tried on small inputs, was killed by signal 9 (Killed)"},
      {"loop", "loop",
       "the operator did not return within 1 s of processor time (ASSAY_OPERATOR_SECONDS allows more) at n=3 "
       "(forward, f32)"},
      {"trap", "trap",
       "the operator ran into an illegal instruction (a trap, or what the language does not define) at n=3 "
       "(forward, f32)"},
  };
  for (const Misdeed& misdeed : table) {
    const ForkedRun ended = run(misdeed.does);
    EXPECT_EQ(ended.exit, 0) << misdeed.does << ": " << ended.last_words;
    std::string told = ended.text;
    if (std::string_view(misdeed.does) == "recurse") // any of the function's lines
      told = "2 " + (folder_ / "twice.h") + told.substr(std::min(told.find(": "), told.size()));
    EXPECT_EQ(told, "2 " + place(misdeed) + misdeed.told) << misdeed.does;
  }
}

TEST_F(MisbehavingOperator, EndsTheProcessWithOneLineWhereOnlyOtherInputsShowIt) {
  const Misdeed table[] = {
      {"at 5 read", "read", "the operator read address 0x0 at n=5 (forward, f32)"},
      {"at 5 throw", "", "the operator threw an exception: no\\n more at n=5 (forward, f32)"},
      {"at 5 exit", "", "the operator called exit at n=5 (forward, f32)"},
      {"at 5 abort", "abort",
       "the operator called abort (as a failed assert does, or an exception where none may be thrown) at n=5 "
       "(forward, f32)"},
      {"at 5 loop", "loop",
       "the operator did not return within 1 s of processor time (ASSAY_OPERATOR_SECONDS allows more) at n=5 "
       "(forward, f32)"},
  };
  for (const Misdeed& misdeed : table) {
    const ForkedRun ended = run(misdeed.does);
    EXPECT_EQ(ended.exit, 2) << misdeed.does << ": " << ended.text;
    EXPECT_EQ(ended.last_words, place(misdeed) + misdeed.told) << misdeed.does;
  }
}

TEST_F(MisbehavingOperator, MayPrintWhereResultsAreNot) {
  const ForkedRun ended = run("print");
  EXPECT_EQ(ended.text, "fine") << ended.last_words;
}

TEST_F(UserOperator, AMissingHeaderIsToldSo) {
  const auto op = load_user_operator(folder_ / "absent.h", folder_ / "cache");
  ASSERT_FALSE(op);
  EXPECT_EQ(op.error().kind, ErrorKind::user);
  EXPECT_EQ(op.error().place.file, folder_ / "absent.h");
}

} // namespace
} // namespace assay::testing
