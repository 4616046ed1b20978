#include "harness/ops/add.h"
#include "harness/ops/cast_f8_e4m3.h"
#include "harness/ops/dequantize_rows_i8.h"
#include "harness/ops/formula_op.h"
#include "harness/ops/quantize_rows_i8.h"

namespace assay {
template const Op& op_of<Add>();
template const Op& op_of<CastF8E4m3>();
template const Op& op_of<DequantizeRowsI8>();
template const Op& op_of<QuantizeRowsI8>();
} // namespace assay
