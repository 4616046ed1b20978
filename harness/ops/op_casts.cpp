#include "harness/ops/add.h"
#include "harness/ops/cast_f8_e4m3.h"
#include "harness/ops/dequantize_rows_i8.h"
#include "harness/ops/formula_op.h"

namespace assay {
template const Op& op_of<Add>();
template const Op& op_of<CastF8E4m3>();
template const Op& op_of<DequantizeRowsI8>();
} // namespace assay
