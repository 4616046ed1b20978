// Whole kernels: the very launches of a case, with every buffer's bytes before and the outputs' after, as a
// GPU left them. A file holds the cases of one kernel in one type:
//
//   { "recorded": {...}, "kernel": "softmax", "ptx": "softmax.f32.ptx",
//     "cases": [ {"name": "rows=3 cols=33",
//                 "buffers": [ {"name": "x", "role": "input", "type": "f32", "count": 99, "bits": "..."},
//                              {"name": "y", "role": "output", "type": "f32", "count": 99, "result": "..."}
//                              ],
//                 "launches": [ {"entry": "...", "grid": [3,1,1], "block": [64,1,1], "shared": 0,
//                                "args": [{"buffer": 0}, {"size": 4, "bits": "21"}]} ] } ] }
//
// Buffers without "bits" start unwritten. Only outputs have a "result". The PTX lies beside the file.
#pragma once

#include "harness/device/device.h"
#include "tests/conformance/gpu.h"

#include <map>
#include <string>
#include <vector>

namespace assay::conformance {

struct RecordedBuffer {
  std::string name;
  BufferRole role = BufferRole::scratch;
  DType dtype = DType::f32;
  std::int64_t count = 0;
  bool initialized = false;
  std::vector<std::byte> before; // where initialized
  std::vector<std::byte> after;  // of an output; empty: not recorded
};

struct RecordedLaunch {
  std::string entry;
  std::array<std::uint64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t shared_bytes = 0;
  struct Value {
    std::int64_t buffer = -1; // -1: a number
    Scalar number;
  };
  std::vector<Value> args;
};

struct LaunchCase {
  std::string name;
  std::vector<RecordedBuffer> buffers;
  std::vector<RecordedLaunch> launches;
};

struct LaunchFile {
  std::string path, kernel, ptx_file, ptx;
  std::map<std::string, std::string> recorded;
  std::vector<LaunchCase> cases;
};

Result<LaunchFile> read_launch_file(const std::string& path);
std::string to_text(const LaunchFile& file);

// Runs the case and puts what it left into the outputs' `after`.
Result<void> record_on_gpu(Gpu& gpu, LaunchCase& one); // the file's module is loaded

} // namespace assay::conformance
