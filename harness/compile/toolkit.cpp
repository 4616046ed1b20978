#include "harness/compile/toolkit.h"

#include <fmt/ranges.h>

#include <charconv>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr int oldest_major = 12;
constexpr int newest_major_tried = 19; // of the names given to the dynamic loader

bool ignore_installed_toolkit() {
  const char* value = std::getenv("ASSAY_IGNORE_TOOLKIT");
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

// The libnvrtc.so.N of the highest N in a folder; empty where there is none that is new enough.
fs::path newest_nvrtc(const fs::path& folder) {
  const std::string prefix = "libnvrtc.so.";
  fs::path best;
  int best_major = oldest_major - 1;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    int major = 0;
    const char* last = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + prefix.size(), last, major);
    if (parsed.ec != std::errc() || parsed.ptr != last || major <= best_major) continue;
    best_major = major;
    best = it->path();
  }
  return best;
}

std::vector<fs::path> include_dirs_of(const fs::path& root) {
  std::vector<fs::path> dirs;
  std::error_code error;
  const fs::path include = root / "include";
  if (!fs::exists(include / "cuda_runtime.h", error)) return dirs;
  dirs.push_back(include);
  if (fs::exists(include / "cccl" / "cuda" / "std", error)) dirs.push_back(include / "cccl");
  return dirs;
}

// Headers that kernels include and that toolkits and wheels bring in packages of their own.
std::vector<std::string> missing_headers(const std::vector<fs::path>& dirs) {
  std::vector<std::string> missing;
  for (const char* header : {"cuda_runtime.h", "cuda_fp16.h", "crt/mma.h", "cuda/std/cstdint"}) {
    bool found = false;
    std::error_code error;
    for (const fs::path& dir : dirs) found = found || fs::exists(dir / header, error);
    if (!found) missing.emplace_back(header);
  }
  return missing;
}

Result<Toolkit> toolkit_at(const fs::path& root) {
  Toolkit toolkit;
  for (const char* folder : {"lib64", "lib", "lib/x86_64-linux-gnu", "targets/x86_64-linux/lib"}) {
    toolkit.library = newest_nvrtc(root / folder);
    if (!toolkit.library.empty()) break;
  }
  toolkit.include_dirs = include_dirs_of(root);
  if (toolkit.library.empty())
    return environment_error({}, "{} has no libnvrtc.so.{} or newer", root.string(), oldest_major);
  if (const std::vector<std::string> missing = missing_headers(toolkit.include_dirs); !missing.empty())
    return environment_error({}, "{} lacks {}", (root / "include").string(), fmt::join(missing, ", "));
  return toolkit;
}

// The folder above the one from which the dynamic loader takes libnvrtc; empty where it finds none.
fs::path loader_root() {
  for (int major = newest_major_tried; major >= oldest_major; --major) {
    void* handle = dlopen(fmt::format("libnvrtc.so.{}", major).c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) continue;
    link_map* map = nullptr;
    fs::path root;
    std::error_code error;
    if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0)
      root = fs::weakly_canonical(map->l_name, error).parent_path().parent_path();
    dlclose(handle);
    return root;
  }
  return {};
}

// Below the build folder in which this program was made, and in which it lies.
std::vector<fs::path> wheel_roots() {
  std::vector<fs::path> roots;
  std::vector<fs::path> builds = {ASSAY_BUILD_ROOT};
  std::error_code error;
  for (fs::path folder = fs::read_symlink("/proc/self/exe", error); folder.has_relative_path();) {
    folder = folder.parent_path();
    if (folder.filename() == "build") builds.push_back(folder);
  }
  for (const fs::path& build : builds) {
    const fs::path unpacked = build / "cuda" / "nvidia";
    for (fs::directory_iterator it(unpacked, error), end; !error && it != end; it.increment(error))
      roots.push_back(it->path());
    if (!roots.empty()) break;
  }
  return roots;
}

} // namespace

std::vector<fs::path> toolkit_roots() {
  std::vector<fs::path> roots;
  if (!ignore_installed_toolkit()) {
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
      if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
        roots.emplace_back(value);
    roots.emplace_back("/usr/local/cuda");
    if (fs::path root = loader_root(); !root.empty()) roots.push_back(std::move(root));
  }
  for (fs::path& root : wheel_roots()) roots.push_back(std::move(root));
  return roots;
}

Result<Toolkit> find_toolkit(const std::vector<fs::path>& roots) {
  std::string seen;
  for (const fs::path& root : roots) {
    std::error_code error;
    if (!fs::exists(root, error)) continue;
    Result<Toolkit> toolkit = toolkit_at(root);
    if (toolkit) return toolkit;
    seen += "; " + toolkit.error().message;
  }
  return environment_error(
      {},
      "no NVRTC with its CUDA headers: set CUDA_HOME to a CUDA toolkit of version {} or newer, or "
      "run tools/assay where it may download NVIDIA's wheels{}",
      oldest_major, seen);
}

} // namespace assay
