// Content hashes (XXH3, 128 bits): cache keys, source hashes in cases, names of corpus files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace assay {

// 32 hexadecimal digits; the same on every machine.
std::string content_hash(std::string_view bytes);

// The first 64 bits of the same hash.
std::uint64_t content_hash64(std::string_view bytes);

} // namespace assay
