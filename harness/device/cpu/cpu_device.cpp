#include "harness/device/cpu/cpu_device.h"

#include "harness/base/check.h"
#include "harness/base/hash.h"
#include "harness/compile/compile.h"
#include "harness/device/cpu/emit/compile.h"
#include "harness/device/cpu/runtime/engine.h"

#include <algorithm>
#include <unordered_map>

namespace assay {
namespace {

class CpuProgram final : public Program {
 public:
  explicit CpuProgram(std::unique_ptr<cpu::CompiledProgram> code) : code(std::move(code)) {
    for (const cpu::CompiledEntry& entry : this->code->module.entries) infos_.push_back(entry.info);
  }
  const std::vector<EntryInfo>& entries() const override { return infos_; }

  std::unique_ptr<cpu::CompiledProgram> code;

 private:
  std::vector<EntryInfo> infos_;
};

class CpuDevice final : public Device {
 public:
  CpuDevice(cpu::Engine::Checks checks, std::filesystem::path cache_dir, bool machine_code)
      : cache_dir_(std::move(cache_dir)), machine_code_(machine_code) {
    engine_.set_checks(checks);
  }

  std::string name() const override { return "cpu"; }

  Result<std::shared_ptr<Program>> load(const PtxSource& source) override {
    const std::string key = content_hash(source.text) + source.origin;
    if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
    cpu::EmitOptions options;
    options.reserve_slot = [this] { return engine_.reserve_slot(); };
    options.compare_enabled = &compare_enabled_;
    options.cache_dir = cache_dir_;
    options.machine_code = machine_code_;
    ASSAY_TRY(auto code, cpu::compile_ptx(source, options));
    auto program = std::make_shared<CpuProgram>(std::move(code));
    programs_.emplace(key, program);
    return program;
  }

  Result<BufferId> allocate(const BufferSpec& spec, std::span<const std::byte> dense) override {
    return engine_.allocate(spec, dense);
  }
  void fill_zero(BufferId buffer) override { engine_.fill_zero(buffer); }
  void release_all() override { engine_.release_all(); }

  Result<LaunchReport> launch(Program& program, const LaunchSpec& spec) override {
    auto* known = dynamic_cast<CpuProgram*>(&program);
    ASSAY_CHECK(known != nullptr, "a program of another device was launched on the CPU device");
    ASSAY_CHECK(machine_code_, "this device only loads");
    cpu::CompiledModule& module = known->code->module;
    const auto entry =
        std::ranges::find(module.entries, spec.entry,
                          [](const cpu::CompiledEntry& e) -> const std::string& { return e.info.name; });
    if (entry == module.entries.end())
      return user_error({module.origin, 0, 0}, "the PTX has no entry '{}'", spec.entry);
    last_ = known;
    return engine_.launch(module, *entry, spec);
  }

  Result<void> read(BufferId buffer, std::span<std::byte> dense) override {
    return engine_.read(buffer, dense);
  }
  std::vector<std::int64_t> unwritten(BufferId buffer, std::size_t limit) const override {
    return engine_.unwritten(buffer, limit);
  }

  // Of the program launched last.
  Coverage coverage() override {
    if (!last_) return {};
    return {last_->code->module.block_counters};
  }

  void set_compare_hook(CompareHook hook) override {
    compare_enabled_ = hook ? 1 : 0;
    engine_.set_compare_hook(hook);
  }

 private:
  std::filesystem::path cache_dir_;
  bool machine_code_;
  std::uint32_t compare_enabled_ = 0;
  cpu::Engine engine_;
  std::unordered_map<std::string, std::shared_ptr<CpuProgram>> programs_;
  CpuProgram* last_ = nullptr;
};

} // namespace

Result<std::unique_ptr<Device>> make_cpu_device() {
  return std::make_unique<CpuDevice>(cpu::Engine::Checks{}, default_cache_dir(), true);
}

std::unique_ptr<Device> make_loading_device() {
  return std::make_unique<CpuDevice>(cpu::Engine::Checks{}, std::filesystem::path(), false);
}

Result<std::unique_ptr<Device>> make_cpu_device(bool check_races, bool check_undefined) {
  return std::make_unique<CpuDevice>(cpu::Engine::Checks{.races = check_races, .undefined = check_undefined},
                                     std::filesystem::path(), true);
}

} // namespace assay
