// The fake driver: device memory is host memory.
#include "tests/cuda/fake_state.h"

#include <cstdlib>
#include <cstring>

namespace assay::testing::fake {

bool leaves_pinned(const void* memory, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(memory);
  for (const auto& [start, size] : state().pinned)
    if (from >= start && from < start + size && from + bytes > start + size) return true;
  return false;
}

namespace {

Status fill(Address to, unsigned char value, std::size_t bytes) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return 0;
}
Status pin(void* memory, std::size_t bytes, unsigned) {
  state().pinned[static_cast<const std::byte*>(memory)] = bytes;
  return 0;
}
Status unpin(void* memory) {
  return state().pinned.erase(static_cast<const std::byte*>(memory)) == 1 ? 0 : invalid_value;
}
Status allocate(Address* address, std::size_t bytes) {
  if (state().used + bytes > fake_gpu().memory) return out_of_memory;
  *address = reinterpret_cast<Address>(std::aligned_alloc(512, bytes));
  state().allocated[*address] = bytes;
  fake_counts().allocated = state().used += bytes;
  return 0;
}
Status release(Address address) {
  fake_counts().allocated = state().used -= state().allocated.at(address);
  state().allocated.erase(address);
  std::free(reinterpret_cast<void*>(address));
  return 0;
}
Status to_device(Address to, const void* from, std::size_t bytes) {
  if (state().broken != 0) return state().broken;
  if (leaves_pinned(from, bytes)) return invalid_value;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
Status to_host(void* to, Address from, std::size_t bytes) {
  if (state().broken != 0) return state().broken;
  if (leaves_pinned(to, bytes)) return invalid_value;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
Status queue_to_device(Address to, const void* from, std::size_t bytes, void* stream) {
  if (leaves_pinned(from, bytes)) return invalid_value;
  return queue(stream, [=] { return to_device(to, from, bytes); });
}
Status queue_to_host(void* to, Address from, std::size_t bytes, void* stream) {
  if (leaves_pinned(to, bytes)) return invalid_value;
  return queue(stream, [=] { return to_host(to, from, bytes); });
}
void spend(std::size_t bytes) { state().clock += static_cast<double>(bytes) / fake_gpu().bytes_per_second; }
Status queue_copy(Address to, Address from, std::size_t bytes, void* stream) {
  return queue(stream, [=]() -> Status {
    if (state().broken != 0) return state().broken;
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    spend(bytes);
    return 0;
  });
}
Status queue_fill(Address to, unsigned char value, std::size_t bytes, void* stream) {
  return queue(stream, [=]() -> Status {
    if (state().broken != 0) return state().broken;
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    spend(bytes);
    return 0;
  });
}

} // namespace

void add_memory(cuda::Driver& driver) {
  driver.allocate = allocate;
  driver.release = release;
  driver.pin = pin;
  driver.unpin = unpin;
  driver.to_device = to_device;
  driver.to_host = to_host;
  driver.fill = fill;
  driver.queue_to_device = queue_to_device;
  driver.queue_to_host = queue_to_host;
  driver.queue_copy = queue_copy;
  driver.queue_fill = queue_fill;
}

} // namespace assay::testing::fake
