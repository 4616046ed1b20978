// What host and GPU share about a burst: neighbouring cases with one plan (kernel, pass, type, dims, params,
// layout) and other inputs. NVRTC compiles this header too: plain numbers, no pointers, no std::.
#pragma once

#include <cstdint>

namespace assay::screen {

inline constexpr int max_rank = 4;
inline constexpr int max_dims = 8;
inline constexpr int max_params = 8;
inline constexpr int max_tensors = 16; // of an operator, absent ones counted
inline constexpr int max_outputs = 6;  // tested ones of a pass

// Threads of a block: a multiple of 64. Where a line takes `line_scratch` Numbers, lines may be under way in
// each thread, or only in each warp.
inline constexpr int most_judge_threads = 512;
constexpr bool line_a_thread(std::int64_t line_scratch) {
  return line_scratch * most_judge_threads <= 1 << 20;
}

// Bytes of a Number at most.
inline constexpr int largest_number = 40;

// One tensor of the operator, at its place in OpInfo::tensors.
struct TensorSlot {
  std::uint64_t offset = 0;                      // bytes from the case's slot to element 0
  std::int32_t shape[max_rank] = {1, 1, 1, 1};   // elements; row-major index (i, j, k, l)
  std::int32_t strides[max_rank] = {0, 0, 0, 0}; // elements, of those axes
  std::int32_t count = 0;                        // elements that shape names
  std::int8_t rank = 0;
  std::uint8_t dtype = 0;  // DType
  std::uint8_t role = 0;   // Role
  bool present = false;    // has a buffer in this pass
  bool dense = true;       // row-major without gaps
  std::int8_t output = -1; // its place in CasePlan::outputs and Record::outputs, or -1: not tested

  // By which the tested output is judged.
  double ulp_limit = 0;
  double flush_floor = 0; // 2^-126 for each flushed term, where the manifest declares flushing; else 0
};

// Everything about a burst's cases but their inputs.
struct CasePlan {
  std::int64_t dims[max_dims] = {};
  double params[max_params] = {}; // rounded to their types
  double fudge = 2;
  double atol = 0;
  double reference_limit = 0.1;
  // |golden - truth| <= golden_unit * magnitude (device/lean_golden.h), for sums of at most `longest` terms.
  double golden_unit = 0;
  std::int32_t longest = 0;      // axis of any tensor, at least 1
  std::uint32_t inner_dims = 0;  // a bit for each dim along which large tensors' lines lie side by side
  std::int32_t line_scratch = 0; // Numbers a line may take for itself; 0: the formula takes none
  std::int32_t most_lines = 1;   // of all stages, by an estimate: how many records the scratch has room for
  std::int32_t tensor_count = 0;
  std::int32_t output_count = 0;
  std::uint8_t dtype = 0; // T
  std::uint8_t pass = 0;  // Pass
  TensorSlot tensors[max_tensors];
};

// Why a case is not plainly clean; the host judges it then. No bit: every number is well inside every limit.
enum Reason : std::uint32_t {
  misplaced = 1u << 0,    // NaN or an infinity that golden, reference and target do not share
  mismatch = 1u << 1,     // an exact output differs
  gate_close = 1u << 2,   // target_error / threshold above `close`, of a tensor or a line
  gate_invalid = 1u << 3, // the reference's own error is too large, or the golden is not exact enough
  overflow = 1u << 4,     // the formula itself may overflow
  ulp_close = 1u << 5,    // representable values off
  bias_close = 1u << 6,   // the mean signed error
  line_unclear = 1u << 7, // what a line stores is not one run of elements, or left something out
  no_scratch = 1u << 8,   // the block's scratch was too small: judged nothing
  not_judged = 1u << 31,  // what a record says before its block is done
};

// Clean is at most this share of a threshold; what lies between it and 1 is the host's to judge.
inline constexpr double close = 0.9;

struct OutputRecord {
  float ratio = 0;           // target_error / threshold; infinity where an element is misplaced or differs
  float line_ratio = 0;      // of the line that comes closest
  float target_error = 0;    // |t - g|, the largest
  float reference_error = 0; // |r - g|, the largest
  float threshold = 0;
  float ulps = 0;                     // elementwise: the most representable values off
  float bias = 0, reference_bias = 0; // mean signed error in output ULPs, where it applies
};

// Of one case.
struct Record {
  std::uint32_t reasons = not_judged;
  float ratio = 0; // the largest of its outputs': what the search climbs
  OutputRecord outputs[max_outputs];
};

// The entry of a judging program (source.h):
//   extern "C" assay_judge(const CasePlan* plan, const unsigned char* slots, uint64 slot_bytes, uint32 cases,
//                          unsigned char* scratch, uint64 scratch_bytes, Record* records)
// blockDim = {JudgeNeeds::threads, 1, 1}, no dynamic shared memory, gridDim.x >= 1: block b judges the cases
// b, b + gridDim.x, ... < cases, one at a time, case c at slots + c * slot_bytes with its tensors where
// CasePlan says, and stores records[c]. Its own scratch lies at scratch + b * scratch_bytes (256-byte
// aligned; both numbers from judge_needs(), case_plan.h). A GPU is full from about two blocks a
// multiprocessor on: a grid of min(cases, JudgeNeeds::most_blocks). Numbers only: whether memory was
// respected is another kernel's to see.
inline constexpr const char* judge_entry = "assay_judge";

} // namespace assay::screen
