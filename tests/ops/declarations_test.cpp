#include "harness/ops/declarations.h"
#include "harness/ops/formula_op.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

// A right set of declarations, of which each test spoils one.
struct Parts {
  Dim dims[2] = {{0, "rows"}, {1, "cols"}};
  TensorSpec x = TensorSpec::input(0, "x", "rows, 2 * cols");
  TensorSpec tensors[4] = {x, TensorSpec::output(1, "y", "rows"),
                           TensorSpec::upstream(2, "grad_y", TensorSpec::output(1, "y", "rows")),
                           TensorSpec::gradient(3, "grad_x", x)};
  bool has_backward = true;

  std::string fault() const {
    Declarations d;
    d.name = "op";
    d.dims = dims;
    d.tensors = tensors;
    d.has_backward = has_backward;
    const auto found = fault_in(d);
    return found ? found->word + ": " + found->message : "";
  }
};

TEST(Declarations, RightOnesHaveNoFault) { EXPECT_EQ(Parts().fault(), ""); }

TEST(Declarations, FaultsAreNamed) {
  Parts parts;
  parts.dims[1].index = 2;
  EXPECT_EQ(parts.fault(), "cols: \"cols\" is numbered 2, but stands at place 1 of dims[]");
  parts = {};
  parts.tensors[1].name = "rows";
  EXPECT_EQ(parts.fault(), "rows: the name \"rows\" is given twice");
  parts = {};
  parts.tensors[0].shape = "rows, 2 * columns";
  EXPECT_EQ(parts.fault(),
            "x: the shape \"rows, 2 * columns\" of x has 'columns', which is neither a dim nor a number");
  parts = {};
  parts.tensors[0].shape = "2, 2, 2, 2, rows";
  EXPECT_EQ(parts.fault(), "x: x has 5 dimensions; there may be 4");
  parts = {};
  parts.tensors[3].of = "z";
  EXPECT_EQ(parts.fault(), "grad_x: grad_x belongs to 'z', which is no input in tensors[]");
  parts = {};
  parts.tensors[0] = parts.tensors[0].in(Domain::Kind::index, "vocabulary");
  EXPECT_EQ(parts.fault(), "x: what bounds x is 'vocabulary', which is no dim");
  parts = {};
  parts.has_backward = false;
  EXPECT_EQ(parts.fault(), ": there are gradients in tensors[], but no backward");
  parts = {};
  parts.tensors[2].name = "grad y";
  EXPECT_EQ(parts.fault(), "grad y: \"grad y\" is no name");
}

} // namespace
} // namespace assay
