// x modulo pi/2 for large float arguments, exactly enough (Payne and Hanek 1983): 2/pi to 256 bits, integer
// arithmetic.
#pragma once

#include <cstdint>

namespace assay::cpu {

// 2^20 <= |x| < infinity. Returns the quadrant modulo 4; remainder in [-pi/4, pi/4], absolute error below
// 2^-55.
std::uint64_t reduce_large(float x, double& remainder);

} // namespace assay::cpu
