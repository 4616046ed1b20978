#include "harness/cases/manifest_tables.h"

namespace assay::manifest_tables {

using namespace toml_reader;

Result<void> read_tolerance(TableReader& root, Manifest& out) {
  Tolerance& tolerance = out.tolerance;
  tolerance.flush_subnormals = out.flush_subnormals;
  const toml::node* node = root.find("tolerance");
  if (node == nullptr) return {};
  ASSAY_TRY(const toml::table* values, table(*node, "tolerance", root.file()));
  TableReader reader(*values, place_of(*node, root.file()), "[tolerance]");
  const auto positive = [&](std::string_view key, bool zero_too) -> Result<std::optional<double>> {
    ASSAY_TRY(const std::optional<double> value, reader.optional_number(key));
    if (value && (*value < 0 || (*value == 0 && !zero_too)))
      return user_error(reader.place_of_key(key), "{} = {} must be {} 0", key, *value,
                        zero_too ? "at least" : "larger than");
    return value;
  };
  ASSAY_TRY(const std::optional<double> fudge, positive("fudge", false));
  ASSAY_TRY(const std::optional<double> atol, positive("atol", true));
  ASSAY_TRY(const std::optional<double> reference_limit, positive("reference_limit", false));
  ASSAY_TRY(tolerance.rms_limit, positive("rms_limit", false));
  ASSAY_TRY(tolerance.max_ulp, positive("max_ulp", true));
  ASSAY_TRY(const std::optional<std::string> evidence, reader.optional_string("evidence"));
  ASSAY_TRY_VOID(reader.reject_unknown());
  tolerance.fudge = fudge.value_or(tolerance.fudge);
  tolerance.atol = atol.value_or(tolerance.atol);
  tolerance.reference_limit = reference_limit.value_or(tolerance.reference_limit);
  tolerance.evidence = evidence.value_or("");
  if (tolerance.max_ulp && tolerance.evidence.empty())
    return user_error(reader.place_of_key("max_ulp"),
                      "max_ulp needs evidence = \"...\": why the bound is right");
  if (!tolerance.max_ulp && evidence)
    return user_error(reader.place_of_key("evidence"), "evidence belongs to max_ulp, which is not there");
  return {};
}

} // namespace assay::manifest_tables
