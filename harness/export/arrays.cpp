#include "harness/export/exported.h"
#include "harness/export/npz.h"

namespace assay {

namespace {

NpzArray float64_array(const std::string& name, const std::vector<std::int64_t>& shape,
                       const std::vector<double>& values) {
  return {name, "<f8", shape, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)}};
}

} // namespace

Result<std::string> npz_arrays(const Exported& exported) {
  const Trial& trial = exported.judgement.trial;
  const std::string text = to_text(exported.test_case);
  std::vector<NpzArray> arrays{{"case", "|u1", {std::ssize(text)}, text}};
  for (std::size_t i = 0; i < trial.inputs.size(); ++i) {
    const Tensor& input = trial.inputs[i];
    const PlannedTensor& planned = trial.plan.tensors[i];
    const bool given = planned.info->role == Role::input || planned.info->role == Role::upstream;
    if (!planned.present || !given) continue;
    arrays.push_back({planned.info->name,
                      std::string(numpy_descriptor(input.dtype)),
                      input.shape,
                      {reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size()}});
  }
  for (std::size_t i = 0; i < trial.tensors.size(); ++i) {
    const TensorReport& report = trial.tensors[i];
    if (trial.target[i].empty()) continue;
    arrays.push_back(float64_array("golden_" + report.name, report.shape, trial.golden[i].value));
    arrays.push_back(float64_array("reference_" + report.name, report.shape, trial.reference[i].value));
    arrays.push_back(float64_array("target_" + report.name, report.shape, trial.target[i]));
  }
  return write_npz(arrays);
}

} // namespace assay
