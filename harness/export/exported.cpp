#include "harness/export/exported.h"

#include "harness/base/files.h"

#include <cstring>
#include <set>

namespace assay {

namespace fs = std::filesystem;

namespace {

// "name" of an #include line, with whether it is quoted; empty where the line is none.
struct IncludeLine {
  std::string name;
  bool quoted = false;
};

IncludeLine include_of(std::string_view line) {
  const auto skip = [&] {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  };
  skip();
  if (!line.starts_with('#')) return {};
  line.remove_prefix(1);
  skip();
  if (!line.starts_with("include")) return {};
  line.remove_prefix(7);
  skip();
  if (line.empty() || (line.front() != '"' && line.front() != '<')) return {};
  const std::size_t end = line.find(line.front() == '"' ? '"' : '>', 1);
  if (end == std::string_view::npos) return {};
  return {std::string(line.substr(1, end - 1)), line.front() == '"'};
}

Result<void> append_source(const fs::path& source, const std::vector<fs::path>& dirs,
                           std::set<fs::path>& done, std::string& out) {
  std::error_code ec;
  if (!done.insert(fs::weakly_canonical(source, ec)).second) return {};
  ASSAY_TRY(const std::string text, read_file(source));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const IncludeLine include = include_of(line);
    fs::path found;
    if (!include.name.empty()) {
      if (include.quoted && fs::is_regular_file(source.parent_path() / include.name, ec))
        found = source.parent_path() / include.name;
      for (const fs::path& dir : dirs)
        if (found.empty() && fs::is_regular_file(dir / include.name, ec)) found = dir / include.name;
    }
    if (!found.empty())
      ASSAY_TRY_VOID(append_source(found, dirs, done, out));
    else if (line.find("#pragma once") == std::string_view::npos)
      out += std::string(line) + "\n";
  }
  return {};
}

} // namespace

std::string title_of(const Exported& exported) {
  if (exported.judgement.findings.empty())
    return fmt::format("{}: nothing is wrong with this case", exported.kernel.manifest().name);
  const Finding& finding = exported.judgement.findings.front();
  return fmt::format("{}: {}", to_string(finding.signature), finding.message);
}

std::string case_comment(const Exported& exported, std::string_view prefix) {
  const std::string text = to_text(exported.test_case);
  std::string comment;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    comment += fmt::format("{}{}\n", prefix, std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  return comment;
}

Result<std::string> with_includes_in_place(const fs::path& source, const std::vector<fs::path>& dirs) {
  std::set<fs::path> done;
  std::string text;
  ASSAY_TRY_VOID(append_source(source, dirs, done, text));
  return text;
}

std::vector<BitRun> bit_runs(const Tensor& tensor) {
  const std::size_t size = size_of(tensor.dtype);
  std::vector<BitRun> runs;
  for (std::size_t at = 0; at < tensor.bytes.size(); at += size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + at, size);
    if (runs.empty() || runs.back().bits != bits)
      runs.push_back({1, bits});
    else
      ++runs.back().count;
  }
  return runs;
}

Result<void> check_size(const Exported& exported) {
  std::int64_t elements = 0;
  for (const PlannedTensor& tensor : exported.judgement.trial.plan.tensors) {
    if (!tensor.present) continue;
    std::int64_t count = 1;
    for (const std::int64_t size : tensor.shape) count *= size;
    elements += count;
  }
  if (elements > most_exported_elements)
    return user_error({},
                      "the case has {} elements, a source text at most {}: minimize it first, or export npz",
                      elements, most_exported_elements);
  return {};
}

} // namespace assay
