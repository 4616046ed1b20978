// The population variance of each row; of no columns it is NaN.
#include "../common/moments.h"
#include "../common/row_reduce.h"

template <class Real> struct RowVariance : Moments<Real> {
  static __device__ Real finish(MomentsState<Real> s, int) { return s.squares / s.count; }
};
