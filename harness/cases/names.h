// What a name may be in manifests and cases.
#pragma once

#include <algorithm>
#include <string_view>

namespace assay {

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// [A-Za-z_][A-Za-z0-9_]*, at most 64 letters: dims, lets, tensors, params.
inline bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && is_letter(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

// A kernel's name also names a folder: letters, digits, '_', '-', '.', no '.' first, at most 100.
inline bool is_kernel_name(std::string_view text) {
  return !text.empty() && text.size() <= 100 && text.front() != '.' && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '.';
  });
}

} // namespace assay
