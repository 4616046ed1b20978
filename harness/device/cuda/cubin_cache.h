// Compiled programs on disk, by content. Whatever does not check out is a miss; a cache that cannot be
// written costs time, never correctness.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace assay::cuda {

// The key of a PTX text for a GPU of this compute capability under this driver.
std::string cubin_key(std::string_view ptx, int compute_major, int compute_minor, int driver);

std::filesystem::path cubin_path(const std::filesystem::path& dir, const std::string& key);
std::optional<std::string> load_cubin(const std::filesystem::path& dir, const std::string& key);
void store_cubin(const std::filesystem::path& dir, const std::string& key, std::string_view cubin);

} // namespace assay::cuda
