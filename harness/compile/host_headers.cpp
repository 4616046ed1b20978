#include "harness/compile/host_headers.h"

namespace assay {
namespace {

constexpr const char* stdint_h = R"(#pragma once
#include <cuda/std/cstdint>
)";

constexpr const char* cstdint = R"(#pragma once
#include <stdint.h>
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::int_fast8_t; using ::int_fast16_t; using ::int_fast32_t; using ::int_fast64_t;
using ::uint_fast8_t; using ::uint_fast16_t; using ::uint_fast32_t; using ::uint_fast64_t;
using ::int_least8_t; using ::int_least16_t; using ::int_least32_t; using ::int_least64_t;
using ::uint_least8_t; using ::uint_least16_t; using ::uint_least32_t; using ::uint_least64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
}
)";

constexpr const char* limits_h = R"(#pragma once
#include <cuda/std/climits>
)";

// The values of IEEE binary32 and binary64 (C11 annex F and 5.2.4.2.2).
constexpr const char* float_h = R"(#pragma once
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_DECIMAL_DIG 9
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_10_EXP 38
#define FLT_MAX 3.40282346638528859812e+38F
#define FLT_MIN 1.17549435082228750797e-38F
#define FLT_TRUE_MIN 1.40129846432481707092e-45F
#define FLT_EPSILON 1.1920928955078125e-07F
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_DECIMAL_DIG 17
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_10_EXP 308
#define DBL_MAX 1.79769313486231570815e+308
#define DBL_MIN 2.22507385850720138309e-308
#define DBL_TRUE_MIN 4.94065645841246544177e-324
#define DBL_EPSILON 2.22044604925031308085e-16
)";

// NVRTC declares the functions themselves, float and double overloads, globally.
constexpr const char* math_h = R"(#pragma once
#define INFINITY (__int_as_float(0x7f800000))
#define NAN (__int_as_float(0x7fffffff))
#define HUGE_VALF INFINITY
#define HUGE_VAL (__longlong_as_double(0x7ff0000000000000LL))
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
// An integer argument means double, as in the host's <cmath>.
namespace assay_detail {
template <class T> struct integer_to_double {};
template <> struct integer_to_double<int> { using type = double; };
template <> struct integer_to_double<unsigned> { using type = double; };
template <> struct integer_to_double<long> { using type = double; };
template <> struct integer_to_double<unsigned long> { using type = double; };
template <> struct integer_to_double<long long> { using type = double; };
template <> struct integer_to_double<unsigned long long> { using type = double; };
}
#define ASSAY_OF_INTEGER(f) \
  template <class T> __host__ __device__ inline typename assay_detail::integer_to_double<T>::type f(T x) { \
    return f(static_cast<double>(x)); \
  }
ASSAY_OF_INTEGER(sqrt) ASSAY_OF_INTEGER(cbrt) ASSAY_OF_INTEGER(exp) ASSAY_OF_INTEGER(exp2) ASSAY_OF_INTEGER(expm1)
ASSAY_OF_INTEGER(log) ASSAY_OF_INTEGER(log2) ASSAY_OF_INTEGER(log10) ASSAY_OF_INTEGER(log1p)
ASSAY_OF_INTEGER(sin) ASSAY_OF_INTEGER(cos) ASSAY_OF_INTEGER(tan) ASSAY_OF_INTEGER(tanh)
ASSAY_OF_INTEGER(floor) ASSAY_OF_INTEGER(ceil) ASSAY_OF_INTEGER(fabs)
#undef ASSAY_OF_INTEGER
)";

constexpr const char* cmath = R"(#pragma once
#include <math.h>
namespace std {
using ::abs; using ::fabs; using ::fmod; using ::remainder; using ::fma; using ::fmax; using ::fmin; using ::fdim;
using ::exp; using ::exp2; using ::expm1; using ::log; using ::log2; using ::log10; using ::log1p; using ::logb;
using ::pow; using ::sqrt; using ::cbrt; using ::hypot;
using ::sin; using ::cos; using ::tan; using ::asin; using ::acos; using ::atan; using ::atan2;
using ::sinh; using ::cosh; using ::tanh; using ::asinh; using ::acosh; using ::atanh;
using ::erf; using ::erfc; using ::tgamma; using ::lgamma;
using ::ceil; using ::floor; using ::trunc; using ::round; using ::rint; using ::nearbyint;
using ::lround; using ::llround; using ::lrint; using ::llrint;
using ::frexp; using ::ldexp; using ::modf; using ::scalbn; using ::ilogb; using ::nextafter; using ::copysign;
using ::isnan; using ::isinf; using ::isfinite; using ::signbit;
using ::fabsf; using ::fmodf; using ::fmaf; using ::fmaxf; using ::fminf; using ::expf; using ::exp2f; using ::expm1f;
using ::logf; using ::log2f; using ::log10f; using ::log1pf; using ::powf; using ::sqrtf; using ::cbrtf;
using ::sinf; using ::cosf; using ::tanf; using ::tanhf; using ::erff; using ::erfcf;
using ::ceilf; using ::floorf; using ::truncf; using ::roundf; using ::rintf; using ::nearbyintf; using ::copysignf;
}
)";

constexpr const char* stddef_h = R"(#pragma once
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
)";

constexpr const char* cstddef = R"(#pragma once
#include <stddef.h>
namespace std {
using ::size_t;
using ::ptrdiff_t;
using nullptr_t = decltype(nullptr);
}
)";

constexpr const char* empty =
    "#pragma once\n"; // NVRTC has printf, assert, malloc, memcpy and the like built in

constexpr const char* cstdio = R"(#pragma once
namespace std { using ::printf; }
)";

constexpr const char* cstdlib = R"(#pragma once
#include <stddef.h>
namespace std {
using ::size_t; using ::malloc; using ::free; using ::abs;
}
)";

constexpr const char* cstring = R"(#pragma once
#include <stddef.h>
namespace std {
using ::size_t; using ::memcpy; using ::memset;
}
)";

constexpr const char* algorithm = R"(#pragma once
namespace std {
template <class T> __host__ __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __host__ __device__ constexpr const T& clamp(const T& v, const T& low, const T& high) {
  return v < low ? low : high < v ? high : v;
}
}
)";

// libcu++ under the name that host code uses.
#define ASSAY_FROM_LIBCUXX(name)                                                                             \
  "#pragma once\n#include <cuda/std/" name ">\nnamespace std { using namespace ::cuda::std; }\n"

} // namespace

const std::vector<std::pair<std::string, std::string>>& host_headers() {
  static const std::vector<std::pair<std::string, std::string>> headers = {
      {"stdint.h", stdint_h},
      {"cstdint", cstdint},
      {"limits.h", limits_h},
      {"climits", limits_h},
      {"float.h", float_h},
      {"cfloat", float_h},
      {"math.h", math_h},
      {"cmath", cmath},
      {"stddef.h", stddef_h},
      {"cstddef", cstddef},
      {"stdio.h", empty},
      {"cstdio", cstdio},
      {"assert.h", empty},
      {"cassert", empty},
      {"stdlib.h", stddef_h},
      {"cstdlib", cstdlib},
      {"string.h", stddef_h},
      {"cstring", cstring},
      {"algorithm", algorithm},
      {"limits", ASSAY_FROM_LIBCUXX("limits")},
      {"type_traits", ASSAY_FROM_LIBCUXX("type_traits")},
      {"utility", ASSAY_FROM_LIBCUXX("utility")},
      {"array", ASSAY_FROM_LIBCUXX("array")},
      {"tuple", ASSAY_FROM_LIBCUXX("tuple")},
  };
  return headers;
}

} // namespace assay
