// assay-fuzz: a libFuzzer target whose inputs are the texts of cases. It takes libFuzzer's own flags and a
// corpus folder, and reads the kernel from ASSAY_KERNEL, the device from ASSAY_DEVICE (cpu where it is not
// set).
#include "fuzz/open_device.h"
#include "fuzz/seed_zip.h"
#include "fuzz/worker.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <malloc.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using assay::Worker;

std::unique_ptr<Worker> worker;

[[noreturn]] void give_up(const std::string& message, int code) {
  std::fprintf(stderr, "assay-fuzz: %s\n", message.c_str());
  std::fflush(stderr);
  ::_exit(code);
}

std::optional<std::string> from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

// libFuzzer's defaults are for bytes that grow from nothing; a case's text has its size from the start.
void add_default_flags(int* argc, char*** argv) {
  static std::vector<std::string> defaults = {"-max_len=" + std::to_string(assay::max_case_text),
                                              "-len_control=0", "-rss_limit_mb=500", "-timeout=300",
                                              "-print_funcs=0"}; // by a symbolizer of 80 MB, in each worker
  static std::vector<char*> args;
  args.assign(*argv, *argv + *argc);
  for (std::string& flag : defaults) {
    const std::string_view name = std::string_view(flag).substr(0, flag.find('=') + 1);
    if (std::ranges::none_of(args, [&](const char* arg) { return std::string_view(arg).starts_with(name); }))
      args.insert(args.begin() + 1, flag.data());
  }
  *argc = static_cast<int>(args.size());
  args.push_back(nullptr);
  *argv = args.data();
}

// Large blocks go back to the system when they are freed. By default glibc keeps all that are no larger than
// one freed before, and so the largest case decides for good what the process holds.
void bound_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

bool has_flag(int argc, char** argv, std::string_view name) {
  return std::any_of(argv + 1, argv + argc, [&](const char* arg) {
    const std::string_view text = arg;
    return text.starts_with(name) && text.substr(name.size()).starts_with("=") && !text.ends_with("=0");
  });
}

// As OSS-Fuzz does before it starts a target: the seeds are unpacked into a corpus folder that is still
// empty.
void take_seeds(int argc, char** argv) {
  std::error_code ec;
  fs::path zip = fs::read_symlink("/proc/self/exe", ec);
  zip += "_seed_corpus.zip";
  const auto folder = std::find_if(argv + 1, argv + argc, [](const char* arg) { return *arg != '-'; });
  if (folder == argv + argc || !fs::is_regular_file(zip, ec) || !fs::is_directory(*folder, ec) ||
      !fs::is_empty(*folder, ec))
    return;
  const auto seeds = assay::unpack_seeds(zip, *folder);
  if (!seeds) give_up(to_string(seeds.error()), assay::exit_code(seeds.error().kind));
  std::fprintf(stderr, "assay-fuzz: %zu seeds of %s unpacked into %s\n", *seeds, zip.c_str(), *folder);
}

std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

std::size_t put(const std::string& text, std::uint8_t* out) {
  return text.copy(reinterpret_cast<char*>(out), text.size());
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) int LLVMFuzzerInitialize(int* argc, char*** argv) {
  bound_memory();
  if (has_flag(*argc, *argv, "-help")) return 0;
  const auto kernel = from_environment("ASSAY_KERNEL");
  if (!kernel) give_up("set ASSAY_KERNEL to the path of a kernel.toml (-help=1 lists libFuzzer's flags)", 2);
  std::optional<assay::CampaignLink> campaign;
  if (const auto status = from_environment("ASSAY_STATUS"))
    campaign = {from_environment("ASSAY_OUT").value_or("findings"), *status,
                from_environment("ASSAY_FINDINGS").value_or(*status + ".findings"),
                from_environment("ASSAY_CHECK").has_value(),
                std::strtoull(from_environment("ASSAY_JOBS").value_or("1").c_str(), nullptr, 10)};
  add_default_flags(argc, argv);
  // Shrinking and merging a corpus want mutations of what is there, not the sweep.
  // The process that libFuzzer starts to read what is to be merged keeps failing cases by their features,
  // too.
  const bool merges = has_flag(*argc, *argv, "-merge") || has_flag(*argc, *argv, "-merge_inner");
  // What an experiment leaves out (tests/suite/ablation.py).
  const std::string without = from_environment("ASSAY_WITHOUT").value_or("");
  const auto has = [&](const char* part) { return !without.contains(part); };
  const Worker::Mode mode{.sweep = has("sweep") && !merges && !has_flag(*argc, *argv, "-minimize_crash"),
                          .feedback = has("feedback"),
                          .mutation = has("mutation"),
                          .screen = has("screen") && !merges,
                          .abort_on_finding = !merges};
  if (!merges && !campaign) take_seeds(*argc, *argv);
  const std::string device = from_environment("ASSAY_DEVICE").value_or("cpu");
  auto created = Worker::create(*kernel, device, campaign, mode);
  if (!created) give_up(to_string(created.error()), assay::exit_code(created.error().kind));
  worker = *std::move(created);
  return 0;
}

__attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                                                  std::size_t size) {
  return worker->test(view(data, size)) ? 0 : -1;
}

__attribute__((visibility("default"))) std::size_t
LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  return put(worker->mutate(view(data, size), max_size, seed), data);
}

__attribute__((visibility("default"))) std::size_t
LLVMFuzzerCustomCrossOver(const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b,
                          std::size_t b_size, std::uint8_t* out, std::size_t max_size, unsigned seed) {
  return put(worker->cross(view(a, a_size), view(b, b_size), max_size, seed), out);
}

} // extern "C"
