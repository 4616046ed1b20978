#include "harness/export/exported.h"
#include "harness/export/torch_formulas.h"

#include <fmt/ranges.h>

#include <cmath>

namespace assay {

namespace {

constexpr const char* rebuild_text = R"python(import argparse
import binascii
import math
import os
import sys

SIZE = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "f8e4m3": 1, "f8e5m2": 1, "i64": 8, "i32": 4, "i8": 1, "u8": 1}


def raw(dtype, runs):
    """The bytes of a tensor, little-endian: each run is (count, bits)."""
    size = SIZE[dtype]
    return b"".join(bits.to_bytes(size, "little") * count for count, bits in runs)


)python";

constexpr const char* compare_text = R"python(

def tensor(torch, name):
    """An input as float64, or int64 for integer types, of exactly its value."""
    dtype, shape, data = INPUTS[name]
    if dtype in ("f8e4m3", "f8e5m2"):
        raise SystemExit(f"{name} is {dtype}, which this script does not read")
    kinds = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.int16,
             "i64": torch.int64, "i32": torch.int32, "i8": torch.int8, "u8": torch.uint8}
    if not data:
        value = torch.zeros(shape, dtype=kinds[dtype])
    else:
        value = torch.frombuffer(bytearray(data), dtype=kinds[dtype]).reshape(shape)
    if dtype == "bf16":
        value = value.view(torch.bfloat16)
    return value.double() if value.is_floating_point() else value.long()


def flat(value):
    return [float(v) for v in value.detach().double().flatten().tolist()]


def off(a, b):
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    return abs(a - b) if math.isfinite(a) and math.isfinite(b) else math.inf


def compare():
    import torch
    if not OUTPUTS:
        print("the kernel did not run to its end, so there is nothing to compare: see the first line of this file")
        return 1
    computed = evaluate(torch)
    wrong = 0
    for name, (shape, threshold, elements) in OUTPUTS.items():
        values = flat(computed[name])
        worst = max(elements, key=lambda k: off(elements[k][2], values[k]), default=None)
        if worst is None:
            continue
        golden, reference, target = elements[worst]
        error = off(target, values[worst])
        furthest = max(off(e[0], values[k]) for k, e in elements.items())
        print(f"{name}[flat {worst}] of {list(shape)}: target {target:.9g}, torch in float64 {values[worst]:.17g}, "
              f"golden {golden:.17g}, reference {reference:.9g}")
        print(f"  error of the target against torch {error:.6g}, threshold {threshold:.6g}; "
              f"golden and torch differ by at most {furthest:.3g}")
        wrong += error > threshold
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dump", metavar="DIR", help="write the bytes of each input to DIR and stop; needs no torch")
    arguments = parser.parse_args()
    for name, (dtype, shape, data) in INPUTS.items():
        print(f"{name}: {dtype} {list(shape)}, crc32 {binascii.crc32(data):08x}")
        if arguments.dump:
            os.makedirs(arguments.dump, exist_ok=True)
            with open(os.path.join(arguments.dump, name), "wb") as file:
                file.write(data)
    return 0 if arguments.dump else compare()


if __name__ == "__main__":
    sys.exit(main())
)python";

std::string number_text(double value) {
  if (std::isnan(value)) return "math.nan";
  if (std::isinf(value)) return value < 0 ? "-math.inf" : "math.inf";
  return fmt::format("{:.17g}", value);
}

std::string tuple_text(const std::vector<std::int64_t>& sizes) {
  return fmt::format("({}{})", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

class PythonScript {
 public:
  explicit PythonScript(const Exported& exported)
      : exported_(exported), trial_(exported.judgement.trial), info_(exported.kernel.op().info()) {}

  Result<std::string> text() {
    if (torch_formula(info_.name).empty())
      return user_error({exported_.kernel.manifest().path.string()},
                        "operator {} is not built in, so there is no formula in torch: export npz or cu",
                        info_.name);
    ASSAY_TRY_VOID(check_size(exported_));
    std::string title = title_of(exported_);
    for (char& c : title)
      if (c == '"' || c == '\\') c = '\'';
    out_ = fmt::format(
        "#!/usr/bin/env python3\n\"\"\"{}\n\nRebuilds the inputs bit for bit, and compares what the kernel "
        "gave with torch in float64.\nThe case:\n\n{}\"\"\"\n\n",
        title, case_comment(exported_, "    "));
    out_ += rebuild_text;
    inputs();
    outputs();
    evaluation();
    out_ += compare_text;
    return std::move(out_);
  }

 private:
  void inputs() {
    out_ += "INPUTS = {\n";
    for (std::size_t i = 0; i < trial_.plan.tensors.size(); ++i) {
      const PlannedTensor& tensor = trial_.plan.tensors[i];
      const bool given = tensor.info->role == Role::input || tensor.info->role == Role::upstream;
      if (!tensor.present || !given) continue;
      out_ += fmt::format("    \"{}\": (\"{}\", {}, raw(\"{}\", [", tensor.info->name, name_of(tensor.dtype),
                          tuple_text(tensor.shape), name_of(tensor.dtype));
      int on_line = 0;
      for (const BitRun& run : bit_runs(trial_.inputs[i]))
        out_ += fmt::format("{}({}, {:#x}),", on_line++ % 6 == 0 ? "\n        " : " ", run.count, run.bits);
      out_ += "])),\n";
    }
    out_ += "}\n\n";
  }

  void outputs() {
    out_ += "# name: (shape, threshold, {element: (golden, reference, target)})\nOUTPUTS = {\n";
    for (std::size_t i = 0; i < trial_.tensors.size(); ++i) {
      const TensorReport& report = trial_.tensors[i];
      if (trial_.target[i].empty()) continue;
      const Evaluated& golden = trial_.golden[i];
      out_ += fmt::format("    \"{}\": ({}, {}, {{", report.name, tuple_text(report.shape),
                          number_text(report.exact ? 0 : report.comparison.gate.threshold));
      for (std::size_t k = 0; k < golden.value.size(); ++k)
        if (golden.formula_overflows.empty() || !golden.formula_overflows[k])
          out_ += fmt::format("\n        {}: ({}, {}, {}),", k,
                              number_text(comparable_golden(report.dtype, golden.value[k])),
                              number_text(trial_.reference[i].value[k]), number_text(trial_.target[i][k]));
      out_ += "}),\n";
    }
    out_ += "}\n\n\n";
  }

  void evaluation() {
    out_ += "def evaluate(torch):\n    F = torch.nn.functional  # noqa: N806\n";
    for (std::size_t d = 0; d < info_.dims.size(); ++d)
      out_ += fmt::format("    {} = {}\n", info_.dims[d].name, trial_.plan.dims[d]);
    for (std::size_t p = 0; p < info_.params.size(); ++p)
      out_ += fmt::format("    {} = {:.17g}\n", info_.params[p].name, trial_.plan.params[p]);
    const bool backward = trial_.plan.pass == Pass::backward;
    for (const TensorInfo& tensor : info_.tensors)
      if (tensor.role == Role::input)
        out_ += fmt::format("    {0} = tensor(torch, \"{0}\"){1}\n", tensor.name,
                            backward && has_gradient(tensor.name) ? ".requires_grad_()" : "");
    const std::string_view formula = torch_formula(info_.name);
    for (std::size_t at = 0; at < formula.size();) {
      const std::size_t end = std::min(formula.find('\n', at), formula.size());
      out_ += fmt::format("    {}\n", formula.substr(at, end - at));
      at = end + 1;
    }
    std::vector<std::string> results;
    if (backward) {
      std::vector<std::string> of, gradients;
      for (const TensorInfo& tensor : info_.tensors) {
        if (tensor.role == Role::upstream) {
          of.push_back(tensor.of);
          gradients.push_back(fmt::format("tensor(torch, \"{}\")", tensor.name));
        }
        if (tensor.role == Role::gradient)
          results.push_back(fmt::format("\"{}\": {}.grad", tensor.name, tensor.of));
      }
      out_ += fmt::format("    torch.autograd.backward([{}], [{}])\n", fmt::join(of, ", "),
                          fmt::join(gradients, ", "));
    } else {
      for (const TensorInfo& tensor : info_.tensors)
        if (tensor.role == Role::output) results.push_back(fmt::format("\"{0}\": {0}", tensor.name));
    }
    out_ += fmt::format("    return {{{}}}\n", fmt::join(results, ", "));
  }

  bool has_gradient(const std::string& input) const {
    for (const TensorInfo& tensor : info_.tensors)
      if (tensor.role == Role::gradient && tensor.of == input) return true;
    return false;
  }

  const Exported& exported_;
  const Trial& trial_;
  const OpInfo& info_;
  std::string out_;
};

} // namespace

Result<std::string> python_script(const Exported& exported) { return PythonScript(exported).text(); }

} // namespace assay
