// What the files of the fake driver share: the state of the process that drives it, and the functions of
// CUDA's that each of them has.
#pragma once

#include "tests/cuda/fake_driver.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace assay::testing::fake {

using cuda::Address;
using cuda::Status;

inline constexpr Status invalid_value = 1, out_of_memory = 2, invalid_ptx = 218, not_found = 500,
                        out_of_resources = 701, capture_unsupported = 900;

struct Kernel {
  std::vector<std::uint32_t> param_bytes;
  FakeGpuKernel run;
};
std::map<std::string, Kernel>& kernels();

struct Module {
  std::string text;
  int variable = 0;
  std::array<std::uint8_t, 64> counters{};
  bool counts() const { return text.find("assay_blocks[") != std::string::npos; }
};
struct Function {
  Module* module = nullptr;
  std::string name;
};

struct State {
  std::map<Address, std::size_t> allocated;
  std::size_t used = 0;
  int device = 0;
  std::uint32_t shared_word = 0;
  Status broken = 0;
  std::string linked;
  std::map<const std::byte*, std::size_t> pinned; // of host memory
  std::map<Function*, std::unique_ptr<Function>> functions;
  double clock = 0; // seconds
};
State& state();

// Runs it: at once on the default stream, when the stream gets there on another, and where a stream is
// captured when the graph is launched.
Status queue(void* stream, std::function<Status()> work);

// CUDA refuses a copy that begins in pinned memory and ends outside it.
bool leaves_pinned(const void* memory, std::size_t bytes);

void add_modules(cuda::Driver& driver);
void add_memory(cuda::Driver& driver);
void add_streams(cuda::Driver& driver); // and launches, events, graphs

} // namespace assay::testing::fake
