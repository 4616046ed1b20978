// Vectors of megabytes whose memory the system gives out two megabytes at a time, where it does so on
// request: page by page that takes as long as what is then computed.
#pragma once

#include <cstddef>
#include <vector>

namespace assay {

// Whatever whole large pages lie in [at, at + bytes), before they are touched. A request, never an error.
void want_large_pages(void* at, std::size_t bytes);

template <class T> void reserve_large(std::vector<T>& values, std::size_t count) {
  values.reserve(count);
  want_large_pages(values.data(), count * sizeof(T));
}

} // namespace assay
