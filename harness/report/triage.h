// What triage knows: findings grouped into faults, each with its suspects, its verdict table, and the series
// that pictures are drawn from. Text, JSON and the page are three ways to print it.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"
#include "harness/numerics/causes.h"
#include "harness/numerics/signature.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// One line of a group's verdict table: an output or gradient of the minimized case (method: section 9).
struct TriageTensor {
  Pass pass = Pass::forward;
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  bool exact = false; // must be equal, element for element; the numbers are then 0
  double reference_error = 0, condition = 1, target_error = 0, threshold = 0;
  double ratio = 0; // target_error / threshold, lines included
  bool gate_valid = true;
  std::string verdict; // "PASS", "FAIL", "INCONCLUSIVE"
  std::string worst;   // "y[0,3] = 1, golden 2, reference 2"; empty where nothing is off
};

// Where in the failing output the error sits: a grid of cells over the tensor as a matrix (its last dim
// across, all others down), row-major. level: the largest error / threshold of a cell's elements; infinity
// where NaN or an infinity is out of place, 1e300 where one is off at all and the threshold is 0.
struct ErrorMap {
  std::string tensor;
  std::vector<std::int64_t> shape;    // of the tensor
  std::int64_t rows = 0, columns = 0; // elements down and across
  int cells_down = 0, cells_across = 0;
  std::vector<double> level;

  // The elements that cell k of `cells` over `count` elements covers: [begin(k), begin(k + 1)).
  static std::int64_t begin(std::int64_t k, std::int64_t cells, std::int64_t count) {
    return static_cast<std::int64_t>(static_cast<__int128>(k) * count / cells);
  }
};

// How many elements have an error in each decade: bin k holds 10^(first + k) <= error < 10^(first + k + 1),
// relative to max|golden| (where that is 0: absolute). Elements without any error, and those that are not
// finite, are apart.
struct ErrorHistogram {
  int first = 0;                               // decimal exponent of the first bin
  std::vector<std::int64_t> target, reference; // as long as each other
  std::int64_t target_exact = 0, reference_exact = 0;
  std::int64_t target_not_finite = 0, reference_not_finite = 0;
};

// One case of the fault: the minimized one, the original, and its redraws at other sizes and distributions.
struct ErrorSamplePoint {
  std::vector<std::pair<std::string, std::int64_t>> dims;
  std::string distribution;   // of the inputs, those that are alike once: "normal", "constant, one_hot"
  double ratio = 0;           // target_error / threshold of the failing output, infinity for wrong structure
  double reference_ratio = 0; // reference_error / threshold
  bool failed = false;
};

struct TriageFinding {
  std::string signature;
  Kind kind = Kind::gate;
  std::string message;
  std::filesystem::path case_file;            // minimized, or the original where minimizing never ended
  double severity = 0;                        // infinity where no error is right
  std::uint64_t hits = 0;                     // 0: not counted (a corpus)
  std::int64_t first_seen = 0, last_seen = 0; // seconds since 1970
  bool open = true;                           // its case still fails
};

// Findings that one fault explains.
struct TriageGroup {
  std::string signature; // of the leading finding
  std::string kernel, op;
  std::vector<TriageFinding> findings; // the leading one first
  std::uint64_t count = 0;             // hits of all; without counts the number of findings
  std::int64_t first_seen = 0, last_seen = 0;
  bool open = true; // one of them is
  std::string case_file;
  Case test_case;                     // its minimized case
  std::size_t minimized_elements = 0; // off the base value
  std::vector<TriageTensor> tensors;
  std::vector<CauseEvidence> suspects; // the likeliest first; empty: none fits
  std::vector<CauseEvidence> cleared;
  std::string note; // where there is no suspect: why; what would make a marginal finding legal
  std::vector<std::string> commands; // reproduce, explain, export
  std::optional<ErrorMap> map;
  ErrorHistogram histogram;
  std::vector<ErrorSamplePoint> samples;
};

struct TriageReport {
  std::string folder, device;
  std::vector<TriageGroup>
      groups; // open ones first, then gross before marginal, then as often as they were seen
  std::vector<std::string> unread; // cases that could not be read or run, a line each
};

std::string triage_text(const TriageReport& report);
std::string triage_json(const TriageReport& report);

} // namespace assay
