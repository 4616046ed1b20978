#include "harness/device/cuda/cubin_cache.h"

#include "harness/base/files.h"
#include "harness/base/hash.h"

namespace assay::cuda {

namespace {

constexpr std::string_view magic = "assay-cubin 1 "; // then key and hash of what follows the line

std::string head_of(const std::string& key, std::string_view cubin) {
  return fmt::format("{}{} {}\n", magic, key, content_hash(cubin));
}

} // namespace

std::string cubin_key(std::string_view ptx, int compute_major, int compute_minor, int driver) {
  return content_hash(fmt::format("sm_{}{} {}\n{}", compute_major, compute_minor, driver, ptx));
}

std::filesystem::path cubin_path(const std::filesystem::path& dir, const std::string& key) {
  return dir / "cubin" / key.substr(0, 2) / (key + ".cubin");
}

std::optional<std::string> load_cubin(const std::filesystem::path& dir, const std::string& key) {
  std::error_code error;
  const std::filesystem::path path = cubin_path(dir, key);
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  auto file = read_file(path);
  if (!file) return std::nullopt;
  const std::size_t line = file->find('\n');
  if (line == std::string::npos) return std::nullopt;
  std::string cubin = file->substr(line + 1);
  if (file->substr(0, line + 1) != head_of(key, cubin)) return std::nullopt;
  return cubin;
}

void store_cubin(const std::filesystem::path& dir, const std::string& key, std::string_view cubin) {
  static_cast<void>(write_file(cubin_path(dir, key), head_of(key, cubin) + std::string(cubin)));
}

} // namespace assay::cuda
