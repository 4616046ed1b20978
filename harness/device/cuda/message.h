// What the device and the process that drives its GPU say to each other: values one after another, in this
// program's own layout, since both are this program.
#pragma once

#include "harness/base/check.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace assay::cuda {

class Writer {
 public:
  template <class T> void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(std::string_view text) {
    put(text.size());
    bytes_.append(text);
  }
  template <class T> void put_all(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class T> T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    const std::string_view bytes = piece(sizeof value);
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::string take_text() { return std::string(piece(take<std::size_t>())); }
  template <class T> std::vector<T> take_all() {
    std::vector<T> values(take<std::size_t>());
    for (T& value : values) value = take<T>();
    return values;
  }
  std::string rest() const { return std::string(bytes_); }

 private:
  std::string_view piece(std::size_t size) {
    ASSAY_CHECK(size <= bytes_.size(), "a message ends early");
    const std::string_view result = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return result;
  }
  std::string_view bytes_;
};

} // namespace assay::cuda
