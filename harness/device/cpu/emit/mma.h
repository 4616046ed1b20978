// The matrix product of mma.sync, with fragments spread over the warp as PTX lays them out.
#pragma once

#include <cstdint>

namespace assay::cpu {

extern "C" {
// D = A B + C with A 16 x k and B k x 8 of halves, k 8 or 16; fragments are registers of 32 lanes each.
// The sum's alignment and truncation are an H200's, so bits agree; NaN is 0x7fffffff.
void assay_mma_f16(const std::uint32_t* a, const std::uint32_t* b, const float* c, float* d, std::uint32_t k);
void assay_mma_bf16(const std::uint32_t* a, const std::uint32_t* b, const float* c, float* d,
                    std::uint32_t k);
}

} // namespace assay::cpu
