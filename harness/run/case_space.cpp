#include "harness/run/binding.h"

#include <fmt/format.h>

#include <cctype>
#include <map>

namespace assay {

namespace {

constexpr std::size_t longest_budget_text = 4096;
constexpr std::int64_t threads_a_launch = std::int64_t{1} << 22;

// The expression over dims alone: every let replaced by its own text. Empty where that grows too long to be
// of use.
std::string over_dims(std::string_view text, const std::map<std::string, std::string, std::less<>>& lets) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!std::isalpha(static_cast<unsigned char>(text[at])) && text[at] != '_') {
      out += text[at++];
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    const std::string_view name = text.substr(at, end - at);
    const auto let = lets.find(name);
    if (let != lets.end() && let->second.empty()) return {};
    out += let == lets.end() ? std::string(name) : fmt::format("({})", let->second);
    if (out.size() > longest_budget_text) return {};
    at = end;
  }
  return out;
}

class Budgets {
 public:
  explicit Budgets(const Manifest& manifest) {
    for (const Let& let : manifest.lets) lets_[let.name] = over_dims(let.value.text(), lets_);
  }

  Result<void> limit(const std::vector<Expression>& factors, std::int64_t limit,
                     std::vector<Budget>& into) const {
    std::string product = "1";
    for (const Expression& factor : factors) {
      const std::string text = over_dims(factor.text(), lets_);
      if (text.empty()) return {};
      product += fmt::format(" * ({})", text);
    }
    const Place place = factors.empty() ? Place{} : factors.front().place();
    ASSAY_TRY(Expression amount, Expression::parse(product, place));
    into.push_back({std::move(amount), limit});
    return {};
  }

 private:
  std::map<std::string, std::string, std::less<>> lets_;
};

} // namespace

Result<CaseSpace> case_space(const Manifest& manifest, const Op& op, const Binding& binding,
                             std::int64_t element_budget) {
  const OpInfo& info = op.info();
  CaseSpace space;
  space.manifest = manifest.path.string();
  space.dtypes = manifest.dtypes;
  space.has_backward = manifest.has_backward();
  space.dims = binding.dims;
  space.params = binding.params;
  space.tolerance = manifest.tolerance;
  space.tolerance.flush_subnormals = space.tolerance.flush_subnormals || manifest.flush_subnormals;
  space.element_budget = element_budget;

  const Budgets budgets(manifest);
  for (std::size_t i = 0; i < info.tensors.size(); ++i) {
    const TensorInfo& tensor = info.tensors[i];
    if (tensor.role == Role::input || tensor.role == Role::upstream) {
      space.inputs.push_back({tensor.name, tensor.dtype, binding.tensor_shapes[i], tensor.domain,
                              tensor.role == Role::upstream, binding.layouts[i]});
    } else {
      ASSAY_TRY_VOID(budgets.limit(binding.tensor_shapes[i], element_budget, space.budgets));
    }
  }
  for (const ScratchText& scratch : manifest.scratch)
    ASSAY_TRY_VOID(budgets.limit(scratch.shape, 4 * element_budget, space.budgets));
  for (const LaunchText& launch : manifest.launches) {
    std::vector<Expression> threads = launch.grid;
    threads.insert(threads.end(), launch.block.begin(), launch.block.end());
    ASSAY_TRY_VOID(budgets.limit(threads, threads_a_launch, space.budgets));
  }
  return space;
}

} // namespace assay
