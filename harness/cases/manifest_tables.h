// The parts of a manifest, each read from its table of the file into its part of `out`. Names are declared as
// they are met, so that the order of the calls (manifest.cpp) is the order in which parts may use each other.
#pragma once

#include "harness/cases/manifest.h"
#include "harness/cases/manifest_names.h"
#include "harness/cases/toml_reader.h"

namespace assay::manifest_tables {

using toml_reader::TableReader;

Result<void> read_head(TableReader& root, Manifest& out); // after out.path is set
Result<void> read_dims(TableReader& root, Names& names, Manifest& out);
Result<void> read_lets(TableReader& root, Names& names, Manifest& out);
Result<void> read_scratch(TableReader& root, Names& names, Manifest& out);
Result<void> read_params(TableReader& root, Names& names, Manifest& out);
Result<void> read_launches(TableReader& root, const Names& names, Manifest& out);
Result<void> read_layout(TableReader& root, Manifest& out);
Result<void> read_tolerance(TableReader& root, Manifest& out); // after the head: flush_subnormals

} // namespace assay::manifest_tables
