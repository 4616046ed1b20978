#include "harness/device/cpu/runtime/fault_log.h"

#include "harness/device/cpu/runtime/engine.h"

#include <algorithm>

namespace assay::cpu {

Place FaultLog::place_of(const Site& site) const {
  if (!module_) return {};
  if (site.source_file > 0 && site.source_file <= module_->files.size())
    return {module_->files[site.source_file - 1], static_cast<int>(site.source_line), 0};
  return {module_->origin, static_cast<int>(site.ptx_line), 0};
}

std::string FaultLog::place_text(const Site& site) const { return to_string(place_of(site)); }

bool FaultLog::is_new(Kind kind, const std::string& buffer, const Site& site, bool note) const {
  if (faults_.size() >= max_faults) return false;
  const Place place = place_of(site);
  return std::ranges::none_of(faults_, [&](const Fault& fault) {
    return fault.kind == kind && fault.note == note && fault.buffer == buffer && fault.place == place;
  });
}

bool FaultLog::first_time(Kind kind, const void* where, const Site& site, bool note) {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(where));
  const std::uint64_t key = (address << 20) ^ (std::uint64_t{site.id} << 5) ^
                            (static_cast<std::uint64_t>(kind) << 1) ^ static_cast<std::uint64_t>(note);
  return faults_.size() < max_faults && seen_.insert(key).second;
}

void FaultLog::record(Kind kind, std::string buffer, Place place, std::string message, bool note) {
  const bool known = std::ranges::any_of(faults_, [&](const Fault& fault) {
    return fault.kind == kind && fault.note == note && fault.buffer == buffer && fault.place == place;
  });
  if (!known) faults_.push_back({kind, std::move(buffer), std::move(place), std::move(message), note});
}

} // namespace assay::cpu
