#include "harness/compile/nvrtc_process.h"

#include "harness/base/child_process.h"
#include "harness/base/time_limit.h"
#include "harness/compile/fields.h"

#include <algorithm>
#include <charconv>

namespace assay {
namespace {

constexpr std::chrono::seconds usual_limit{120};
constexpr std::chrono::seconds waits_at_most{600}; // by the clock: a busy machine, or a file that never ends
constexpr std::size_t most_bytes = std::size_t{4} << 30;

std::string packed(const Result<NvrtcOutput>& output) {
  std::string body;
  put_field(body, output ? "" : output.error().message);
  if (!output) {
    put_field(body, std::to_string(exit_code(output.error().kind)));
    return body;
  }
  put_field(body, std::to_string(output->status));
  put_field(body, output->log);
  put_field(body, output->ptx);
  put_field(body, output->cubin);
  for (const std::string& name : output->names) put_field(body, name);
  return body;
}

std::optional<Result<NvrtcOutput>> unpacked(std::string_view body, const std::string& name) {
  const auto failure = take_field(body);
  if (!failure) return std::nullopt;
  if (!failure->empty()) {
    const bool users = take_field(body) == std::to_string(exit_code(ErrorKind::user));
    return std::unexpected(Error{users ? ErrorKind::user : ErrorKind::environment, *failure, Place{name}});
  }
  const auto status = take_field(body);
  auto log = take_field(body), ptx = take_field(body), cubin = take_field(body);
  if (!status || !log || !ptx || !cubin) return std::nullopt;
  NvrtcOutput output;
  std::from_chars(status->data(), status->data() + status->size(), output.status);
  output.log = *std::move(log);
  output.ptx = *std::move(ptx);
  output.cubin = *std::move(cubin);
  while (!body.empty()) {
    auto mangled = take_field(body);
    if (!mangled) return std::nullopt;
    output.names.push_back(*std::move(mangled));
  }
  return output;
}

} // namespace

constexpr std::string_view how_to_raise_compile_limit = "ASSAY_COMPILE_SECONDS allows more";

std::chrono::seconds compile_limit() { return time_limit("ASSAY_COMPILE_SECONDS", usual_limit); }

Result<NvrtcOutput> run_nvrtc_apart(const NvrtcLibrary& library, const std::string& source,
                                    const std::string& name,
                                    const std::vector<std::pair<std::string, std::string>>& headers,
                                    const std::vector<std::string>& expressions,
                                    const std::vector<std::string>& options) {
  const std::chrono::seconds limit = compile_limit();
  ASSAY_TRY(
      const ForkedRun run,
      run_forked([&] { return packed(run_nvrtc(library, source, name, headers, expressions, options)); },
                 {.patience = std::max(waits_at_most, limit), .processor = limit, .bytes = most_bytes}));
  if (!run.in_time)
    return user_error(Place{name}, "NVRTC did not compile it within {} s of processor time; {}",
                      limit.count(), how_to_raise_compile_limit);
  if (run.exit == 0)
    if (auto output = unpacked(run.text, name)) return *std::move(output);
  return user_error(Place{name}, "NVRTC failed at it, with at most {} GiB of memory: it {}", most_bytes >> 30,
                    run.last_words.empty() ? how_it_ended(run.exit) : "threw " + run.last_words);
}

} // namespace assay
