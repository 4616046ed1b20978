#include "harness/run/binding.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <map>
#include <set>

namespace assay {

namespace {

constexpr std::size_t longest_budget_text = 4096;
constexpr std::int64_t least_written_size = 3; // smaller ones are tried anyway
constexpr std::int64_t threads_a_launch = std::int64_t{1} << 22;
constexpr std::int64_t most_threads_a_launch = std::int64_t{1} << 24; // 65536 blocks of 256

bool is_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_'; }

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
    while (end < text.size() && is_word(text[end])) ++end;
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

  // Of `name`: the product of the factors.
  Result<void> limit(std::string name, const std::vector<Expression>& factors, std::int64_t limit,
                     std::int64_t whole_limit, std::vector<Budget>& into) const {
    std::string product = "1";
    for (const Expression& factor : factors) {
      const std::string text = over_dims(factor.text(), lets_);
      if (text.empty()) return {};
      product += fmt::format(" * ({})", text);
    }
    const Place place = factors.empty() ? Place{} : factors.front().place();
    ASSAY_TRY(Expression amount, Expression::parse(product, place));
    into.push_back({std::move(name), std::move(amount), limit, whole_limit});
    return {};
  }

  // The numbers of an expression that reads the dim, and products of two of them: where a launcher's branch
  // turns, where its cap on a grid begins to bite.
  void written_sizes(const Expression& expression, const DimRange& range,
                     std::set<std::int64_t>& into) const {
    const std::string text = over_dims(expression.text(), lets_);
    std::set<std::int64_t> numbers;
    bool reads = false;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && is_word(text[end])) ++end;
      const std::string_view word = std::string_view(text).substr(at, end - at);
      std::int64_t number = 0;
      if (word == range.name)
        reads = true;
      else if (std::from_chars(word.begin(), word.end(), number).ec == std::errc{})
        numbers.insert(number);
      at = std::max(end, at + 1);
    }
    if (!reads) return;
    const std::set<std::int64_t> alone = numbers;
    for (const std::int64_t a : alone)
      for (const std::int64_t b : alone)
        if (std::int64_t product = 0; !__builtin_mul_overflow(a, b, &product)) numbers.insert(product);
    for (const std::int64_t size : numbers)
      if (size > least_written_size && size >= range.min && size <= range.max) into.insert(size);
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
      ASSAY_TRY_VOID(budgets.limit(fmt::format("the elements of {}", tensor.name), binding.tensor_shapes[i],
                                   element_budget, element_budget, space.budgets));
    }
  }
  for (const ScratchText& scratch : manifest.scratch)
    ASSAY_TRY_VOID(budgets.limit(fmt::format("the elements of scratch {}", scratch.name), scratch.shape,
                                 4 * element_budget, 4 * element_budget, space.budgets));
  for (const LaunchText& launch : manifest.launches) {
    std::vector<Expression> threads = launch.grid;
    threads.insert(threads.end(), launch.block.begin(), launch.block.end());
    ASSAY_TRY_VOID(budgets.limit(fmt::format("the threads of {}", launch.kernel), threads, threads_a_launch,
                                 most_threads_a_launch, space.budgets));
  }
  for (const DimRange& range : space.dims) {
    std::set<std::int64_t> sizes;
    for (const LaunchText& launch : manifest.launches) {
      for (const auto* shape : {&launch.grid, &launch.block})
        for (const Expression& expression : *shape) budgets.written_sizes(expression, range, sizes);
      budgets.written_sizes(launch.shared, range, sizes);
    }
    for (const Let& let : manifest.lets) budgets.written_sizes(let.value, range, sizes);
    space.written.emplace_back(sizes.begin(), sizes.end());
  }
  return space;
}

} // namespace assay
