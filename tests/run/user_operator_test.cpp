// Users' own operators: what their headers may get wrong, each in one line at its place.
#include "harness/run/user_operator.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

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

TEST_F(UserOperator, AFormulaThatLeavesElementsOutEndsTheProcessWithOneLine) {
  const std::string text = header(
      "twice", tensors, formula("line.size(n) - 1", "2 * line.load(x, {i})", "2 * line.load(grad_y, {i})"));
  EXPECT_EXIT(static_cast<void>(load(text)), ::testing::ExitedWithCode(2),
              "assay: .*twice.h: the formula stores nothing into element 2 of y's 3");
}

TEST_F(UserOperator, AFormulaThatReadsOutsideATensorToo) {
  const std::string text = header(
      "twice", tensors, formula("line.size(n)", "2 * line.load(x, {i + 1})", "2 * line.load(grad_y, {i})"));
  EXPECT_EXIT(static_cast<void>(load(text)), ::testing::ExitedWithCode(2),
              "assay: .*twice.h: the formula leaves tensor x: element 3 of 3");
}

TEST_F(UserOperator, AMissingHeaderIsToldSo) {
  const auto op = load_user_operator(folder_ / "absent.h", folder_ / "cache");
  ASSERT_FALSE(op);
  EXPECT_EQ(op.error().kind, ErrorKind::user);
  EXPECT_EQ(op.error().place.file, folder_ / "absent.h");
}

} // namespace
} // namespace assay::testing
