#include "tools/campaign_folder.h"

#include "harness/base/files.h"
#include "harness/cases/case.h"
#include "harness/store/corpus.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

namespace assay {

namespace fs = std::filesystem;
using nlohmann::json;

Result<CampaignFolder> CampaignFolder::take(const fs::path& folder) {
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) return user_error(Place{folder.string()}, "cannot be created: {}", ec.message());
  const fs::path path = folder / "lock";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return user_error(Place{path.string()}, "cannot be written: {}", std::strerror(errno));
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return CampaignFolder(folder, file);
  ::close(file);
  return user_error(Place{folder.string()},
                    "another campaign is at work there; wait for it, or give --out another folder");
}

CampaignFolder& CampaignFolder::operator=(CampaignFolder&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(lock_, other.lock_);
  return *this;
}

CampaignFolder::~CampaignFolder() {
  if (lock_ >= 0) ::close(lock_);
}

std::optional<CampaignFolder::Record> CampaignFolder::read() const {
  const auto text = read_file(folder_ / "campaign.json");
  if (!text) return std::nullopt;
  const json object = json::parse(*text, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto command = object.find("command"), seed = object.find("seed"), ended = object.find("ended");
  for (const auto& field : {command, seed, ended})
    if (field == object.end()) return std::nullopt;
  if (!command->is_string() || !seed->is_number_unsigned() || !ended->is_boolean()) return std::nullopt;
  Record record{command->get<std::string>(), seed->get<std::uint64_t>(), ended->get<bool>()};
  if (const auto units = object.find("units"); units != object.end() && units->is_number_unsigned())
    record.units = units->get<std::size_t>();
  for (const json& death : object.value("deaths", json::array()))
    if (death.is_array() && death.size() == 2 && death[0].is_string() && death[1].is_string())
      record.deaths.push_back({death[0].get<std::string>(), death[1].get<std::string>()});
  return record;
}

Result<void> CampaignFolder::write(const Record& record) const {
  json deaths = json::array();
  for (const Record::Death& death : record.deaths) deaths.push_back(json::array({death.how, death.culprit}));
  const json object = {{"command", record.command},
                       {"seed", record.seed},
                       {"ended", record.ended},
                       {"units", record.units},
                       {"deaths", std::move(deaths)}};
  return write_file(folder_ / "campaign.json",
                    object.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

namespace {

// base/files.h writes ".<name>.XXXXXX" first.
bool is_temporary(const std::string& name) {
  return name.size() > 8 && name.front() == '.' && name[name.size() - 7] == '.' &&
         std::all_of(name.end() - 6, name.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
}

bool is_unit_of_libfuzzer(const std::string& name) {
  return name.size() == 40 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

} // namespace

void remove_leftovers(const fs::path& folder) {
  std::error_code ec;
  std::vector<fs::path> leftovers;
  for (fs::recursive_directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (is_temporary(it->path().filename().string())) leftovers.push_back(it->path());
  for (const fs::path& file : leftovers) fs::remove(file, ec);
}

Result<std::size_t> mend_corpus(const fs::path& folder) {
  ASSAY_TRY(const auto files, Corpus(folder).files());
  std::size_t broken = 0;
  for (const fs::path& file : files) {
    if (!is_unit_of_libfuzzer(file.filename().string())) continue;
    const auto text = read_file(file);
    if (text && parse_case(*text, file.string())) continue;
    std::error_code ec;
    broken += fs::remove(file, ec);
  }
  return broken;
}

Result<BrokenUnits> broken_units(const fs::path& corpus) {
  ASSAY_TRY(const auto files, Corpus(corpus).files());
  BrokenUnits broken;
  for (const fs::path& file : files) {
    const auto text = read_file(file);
    const auto parsed = text ? parse_case(*text, file.string()) : std::unexpected(text.error());
    if (!parsed && broken.count++ == 0) broken.first = to_string(parsed.error());
  }
  return broken;
}

} // namespace assay
