#include "fuzz/finding_event.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace assay {

Result<void> append_event(const std::filesystem::path& path, const FindingEvent& event) {
  const nlohmann::json object = {{"signature", event.signature},
                                 {"folder", event.folder.string()},
                                 {"seconds_to_find", event.seconds_to_find},
                                 {"minimized_elements", event.minimized_elements},
                                 {"minimized", event.minimized}};
  const std::string line = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const off_t before = file >= 0 ? ::lseek(file, 0, SEEK_END) : 0; // each worker has its own file
  errno = file >= 0 ? ENOSPC : errno;                              // of a write that is cut short
  const bool written =
      file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int cause = errno;
  if (file >= 0 && !written && ::ftruncate(file, before) != 0) return internal_error("ftruncate");
  if (file >= 0) ::close(file);
  if (!written) return environment_error(Place{path.string()}, "cannot be written: {}", std::strerror(cause));
  return {};
}

std::optional<FindingEvent> parse_event(std::string_view line) {
  const auto object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto signature = object.find("signature"), folder = object.find("folder");
  const auto seconds = object.find("seconds_to_find"), elements = object.find("minimized_elements");
  const auto minimized = object.find("minimized");
  for (const auto& field : {signature, folder, seconds, elements, minimized})
    if (field == object.end()) return std::nullopt;
  if (!signature->is_string() || !folder->is_string() || !seconds->is_number() ||
      !elements->is_number_unsigned() || !minimized->is_boolean())
    return std::nullopt;
  return FindingEvent{signature->get<std::string>(), folder->get<std::string>(), seconds->get<double>(),
                      elements->get<std::size_t>(), minimized->get<bool>()};
}

} // namespace assay
