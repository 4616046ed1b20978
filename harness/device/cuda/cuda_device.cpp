#include "harness/device/cuda/cuda_device.h"

#include "harness/base/check.h"
#include "harness/compile/compile.h"
#include "harness/device/cuda/fault.h"
#include "harness/device/cuda/two_worlds.h"

#include <algorithm>

namespace assay {

namespace cuda {

void CudaDevice::compose() {
  if (composed_) return;
  arena_.compose(first_world, bytes_of(0));
  arena_.compose(second_world, bytes_of(1));
  composed_ = true;
}

CudaProgram& CudaDevice::own(Program& any) {
  auto* program = dynamic_cast<CudaProgram*>(&any);
  ASSAY_CHECK(program != nullptr, "a program of another device was launched on a GPU");
  return *program;
}

// What the GPU is asked for, or the limit that the launch breaks.
Result<std::variant<GpuLaunch, std::string>> CudaDevice::translate(const CudaProgram& program,
                                                                   const LaunchSpec& spec) const {
  const auto entry = std::ranges::find(program.infos, spec.entry, &EntryInfo::name);
  if (entry == program.infos.end())
    return user_error({program.origin, 0, 0}, "the PTX has no entry '{}'", spec.entry);
  if (auto broken = broken_limit(*entry, spec, gpu_.limits())) return *std::move(broken);
  GpuLaunch launch;
  launch.module = program.id;
  launch.function = static_cast<std::uint32_t>(entry - program.infos.begin());
  launch.grid = narrow(spec.grid);
  launch.block = narrow(spec.block);
  launch.shared_bytes = static_cast<std::uint32_t>(spec.shared_bytes);
  for (const Argument& argument : spec.args) {
    if (const auto* scalar = std::get_if<Scalar>(&argument))
      launch.parameters.push_back({scalar->bits, 0});
    else
      launch.parameters.push_back({arena_.address(std::get<BufferId>(argument)), 1});
  }
  return launch;
}

Result<std::variant<std::vector<GpuLaunch>, std::string>>
CudaDevice::translate_all(const CudaProgram& program, std::span<const LaunchSpec> specs) const {
  std::vector<GpuLaunch> launches;
  for (const LaunchSpec& spec : specs) {
    ASSAY_TRY(auto translated, translate(program, spec));
    if (auto* broken = std::get_if<std::string>(&translated)) return std::move(*broken);
    launches.push_back(std::get<GpuLaunch>(std::move(translated)));
  }
  return launches;
}

// The launches that follow those made so far, in every world.
Result<std::optional<Reply>> CudaDevice::advance(CudaProgram& program,
                                                 const std::vector<GpuLaunch>& launches) {
  if (counting_) ASSAY_TRY_VOID(gpu_.count_blocks(program));
  const bool fresh = std::ranges::find(launches_, &program, &Launched::program) == launches_.end();
  for (const GpuLaunch& launch : launches) launches_.push_back({&program, launch});
  std::vector<std::uint32_t> worlds = {0, 1};
  const bool counts = counting_ && !program.counting_cubin.empty();
  if (counts) worlds.insert(worlds.begin(), counting_world);
  ASSAY_TRY_VOID(gpu_.ensure_module(program, fresh, worlds));
  compose();
  std::vector<WorldRun> runs;
  for (const std::uint32_t world : worlds)
    runs.push_back({world, dirt_of(world == 1 ? second_world : first_world), !uploaded_, launches});
  ASSAY_TRY(std::optional<Reply> reply, gpu_.run(runs, arena_.bytes()));
  uploaded_ = true;
  if (!reply || reply->stage != Stage::done) return reply;
  last_ = &program;
  for (std::size_t i = 0; counts && i < program.counters.size(); ++i)
    program.counters[i] = std::max(program.counters[i], static_cast<std::uint8_t>(gpu_.memory().blob()[i]));
  return reply;
}

std::vector<Fault> CudaDevice::faults_in_memory() const {
  std::vector<Fault> faults = arena_.faults(bytes_of(0), first_world);
  for (Fault& fault : arena_.faults(bytes_of(1), second_world))
    if (std::ranges::none_of(faults, [&](const Fault& known) {
          return known.kind == fault.kind && known.buffer == fault.buffer;
        }))
      faults.push_back(std::move(fault));
  return faults;
}

Result<LaunchReport> CudaDevice::launch(Program& any, const LaunchSpec& spec) {
  CudaProgram& program = own(any);
  ASSAY_CHECK(!lost_, "a launch after one that ended the context");
  ASSAY_TRY(const auto translated, translate(program, spec));
  LaunchReport report;
  if (const auto* broken = std::get_if<std::string>(&translated)) {
    report.faults.push_back({Kind::launch, "", {}, "launch: " + *broken, false});
    return report;
  }
  ASSAY_TRY(const std::optional<Reply> reply, advance(program, {std::get<GpuLaunch>(translated)}));
  if (!reply || reply->stage != Stage::done) return fault_of(reply, program);
  report.faults = faults_in_memory();
  const bool overwritten = std::ranges::any_of(
      report.faults, [](const Fault& fault) { return fault.kind == Kind::out_of_bounds; });
  if (overwritten || explained_) return report;
  if (const auto element = arena_.difference(bytes_of(0), first_world, bytes_of(1), second_world)) {
    explained_ = true;
    ASSAY_TRY_VOID(explain(*element, report.faults));
  }
  return report;
}

Result<bool> CudaDevice::launch_whole(Program& any, std::span<const LaunchSpec> specs) {
  CudaProgram& program = own(any);
  ASSAY_CHECK(launches_.empty(), "a whole case after a launch");
  ASSAY_TRY(const auto launches, translate_all(program, specs));
  if (std::holds_alternative<std::string>(launches)) return false;
  ASSAY_TRY(const std::optional<Reply> reply, advance(program, std::get<0>(launches)));
  if (reply && reply->stage == Stage::done && faults_in_memory().empty() &&
      !arena_.difference(bytes_of(0), first_world, bytes_of(1), second_world))
    return true;
  forget_launches(program);
  return false;
}

// The buffers are as allocated again.
void CudaDevice::forget_launches(const CudaProgram& program) {
  if (program.traits.heap) gpu_.stop();
  launches_.clear();
  composed_ = uploaded_ = timed_ = false;
}

Result<LaunchReport> CudaDevice::fault_of(const std::optional<Reply>& reply, const CudaProgram& program) {
  LaunchReport report;
  lost_ = true;
  if (!reply) {
    report.faults.push_back({Kind::timeout,
                             "",
                             {},
                             fmt::format("the launch did not end within {:g} s",
                                         static_cast<double>(gpu_.watchdog().count()) / 1000),
                             false});
    gpu_.be_impatient();
    return report;
  }
  if (reply->stage == Stage::memory)
    return user_error({}, "the GPU has no room for two times {} MiB of buffers", arena_.bytes() >> 20);
  std::optional<Kind> kind;
  if (reply->stage == Stage::launch && is_refused_launch(reply->status)) kind = Kind::launch;
  if (reply->stage == Stage::run) kind = kind_of(reply->status, program.traits.traps);
  if (!kind) return environment_error({}, "{}: {}", name(), reply->text);
  report.faults.push_back({*kind, "", {}, reply->text, false});
  return report;
}

} // namespace cuda

Result<std::unique_ptr<Device>> make_cuda_device(const cuda::Driver& driver, const CudaOptions& options) {
  auto device = std::make_unique<cuda::CudaDevice>(driver, options);
  ASSAY_TRY_VOID(device->open());
  return device;
}

Result<std::unique_ptr<Device>> make_cuda_device(int ordinal) {
  ASSAY_TRY(const cuda::Driver* driver, cuda::load_driver());
  CudaOptions options;
  options.ordinal = ordinal;
  options.cache_dir = default_cache_dir();
  return make_cuda_device(*driver, options);
}

int cuda_device_count() { return cuda::visible_gpus(); }

} // namespace assay
