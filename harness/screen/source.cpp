#include "harness/screen/source.h"

#include "harness/base/files.h"
#include "harness/compile/includes.h"
#include "harness/numerics/dtype.h"
#include "harness/run/user_operator.h"
#include "harness/screen/layout.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#pragma clang diagnostic ignored "-Wc23-extensions" // #embed

namespace assay {

namespace {

namespace fs = std::filesystem;

struct Embedded {
  std::string_view name, text; // as it is included
};
template <std::size_t size> constexpr std::string_view view(const char (&text)[size]) { return {text, size}; }
// constexpr Embedded embedded[]: this folder's device headers and every header that a formula may include
// (CMakeLists.txt).
#include "judge_headers.inc"

// Two fill it with 32 warps, which is what hides the latency of memory; 64 registers a thread are enough but
// for numbers of two doubles.
int blocks_a_multiprocessor(DType dtype) { return dtype == DType::f64 ? 1 : 2; }

std::string source_text(std::string_view header, std::string_view formula, const Judging& judging) {
  return fmt::format(R"(#include "harness/screen/device/judge.h"

#include "{}"

extern "C" __global__ void __launch_bounds__(assay::screen::most_judge_threads, {})
{}(const assay::screen::CasePlan* plan, const unsigned char* slots, unsigned long long slot_bytes,
   unsigned cases, unsigned char* scratch, unsigned long long scratch_bytes,
   assay::screen::Record* records) {{
  using Job = assay::screen::Job<assay::{}, {}, assay::DType::{}, {}>;
  assay::screen::judge_cases<Job>(plan, slots, slot_bytes, cases, scratch, scratch_bytes, records);
}}
)",
                     header, blocks_a_multiprocessor(judging.dtype), screen::judge_entry, formula,
                     judging.pass == Pass::backward, name_of(judging.dtype), judging.keeps_golden);
}

// Those of `embedded` that one of the texts includes, or what is included there.
std::vector<std::pair<std::string, std::string>> headers_of(std::vector<std::string> texts) {
  std::vector<std::pair<std::string, std::string>> headers;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < texts.size(); ++i) { // grows while it is walked
    bool computed = false;
    for (IncludeName& include : includes_of(texts[i], computed)) {
      const auto* const found = std::ranges::find(embedded, include.name, &Embedded::name);
      if (found == std::end(embedded) || !seen.insert(include.name).second) continue;
      texts.emplace_back(found->text);
      headers.emplace_back(std::move(include.name), found->text);
    }
  }
  return headers;
}

} // namespace

Result<PtxSource> judging_source(const Judging& judging, const fs::path& cache_dir, CompileReport* report) {
  CompileRequest request;
  std::vector<std::string> texts;
  if (is_user_operator(judging.op)) {
    const fs::path header = judging.op;
    ASSAY_TRY(std::string text, read_file(header));
    request.path = header.parent_path() / fmt::format("judge of {}", header.stem().string());
    request.text = source_text(header.filename().string(), formula_name(header.stem().string()), judging);
    for (IncludedFile& file : scan_includes(header, text, {header.parent_path()}).files)
      texts.push_back(std::move(file.text));
    texts.push_back(std::move(text));
  } else {
    request.path = fmt::format("judge of {}", judging.op);
    request.text =
        source_text(fmt::format("harness/ops/{}.h", judging.op), formula_name(judging.op), judging);
  }
  texts.push_back(request.text);
  request.headers = headers_of(std::move(texts));
  request.names = {screen::judge_entry};
  request.options = {"-std=c++20", "-fmad=false", "-default-device", "-w"};
  request.arch = judging.arch;
  return compile(request, cache_dir, report);
}

bool has_functions(const PtxSource& program) { return program.text.contains("assay: function"); }

} // namespace assay
