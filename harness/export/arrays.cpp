#include "harness/export/exported.h"
#include "harness/export/npz.h"

#include <algorithm>

namespace assay {

namespace {

NpzArray float64_array(const std::string& name, const std::vector<std::int64_t>& shape,
                       const std::vector<double>& values) {
  return {name, "<f8", shape, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)}};
}

// Sizes and parameters, which the inputs' shapes may not tell.
void add_numbers(const Case& test_case, std::vector<NpzArray>& arrays) {
  for (const auto& [name, size] : test_case.dims)
    arrays.push_back({name, "<i8", {}, {reinterpret_cast<const char*>(&size), sizeof size}});
  for (const auto& [name, value] : test_case.params) arrays.push_back(float64_array(name, {}, {value}));
}

constexpr const char* case_array = "case";
constexpr const char* results[] = {"golden_", "reference_", "target_"};

} // namespace

Result<std::string> npz_arrays(const Exported& exported) {
  const Trial& trial = exported.judgement.trial;
  const std::string text = to_text(exported.test_case);
  std::vector<NpzArray> arrays{{case_array, "|u1", {std::ssize(text)}, text}};
  add_numbers(exported.test_case, arrays);
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
    const std::vector<double>* const values[] = {&trial.golden[i].value, &trial.reference[i].value,
                                                 &trial.target[i]};
    for (std::size_t k = 0; k < std::size(results); ++k)
      arrays.push_back(float64_array(results[k] + report.name, report.shape, *values[k]));
  }
  return write_npz(arrays);
}

bool is_record(std::string_view array, const OpInfo& info) {
  return array == case_array || std::ranges::any_of(results, [&](std::string_view prefix) {
           return array.starts_with(prefix) && std::ranges::find(info.tensors, array.substr(prefix.size()),
                                                                 &TensorInfo::name) != info.tensors.end();
         });
}

} // namespace assay
