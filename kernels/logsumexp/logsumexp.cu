// log(sum(exp(x))) of each row, about its maximum, which also decides where there is an infinity.
#include "../common/row_reduce.h"
#include "../common/softmax_state.h"

template <class Real> struct RowLogsumexp {
  using State = SoftmaxState;
  static __device__ State identity() { return MergeSoftmax::identity(); }
  static __device__ State add(State s, Real value) { return merge(s, {value, 1.0f}); }
  static __device__ State merge(State a, State b) {
    const State both = MergeSoftmax()(a, b);
    return {a.largest != a.largest || b.largest != b.largest ? both.sum : both.largest, both.sum};
  }
  static __device__ Real finish(State s, int) {
    return isinf(s.largest) ? s.largest : s.largest + logf(s.sum);
  }
};
