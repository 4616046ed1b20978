//! launch grid=1 block=32 words=32
//! expect i * 6 + 4
#include <cuda/std/array>
#include <cuda/std/optional>
#include <cuda/std/tuple>
template <class... T> __device__ auto sum(T... values) { return (values + ... + 0u); }
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = threadIdx.x;
  cuda::std::array<unsigned, 3> three{i, 2 * i, 3 * i};
  const auto both = cuda::std::make_tuple(1u, 3u);
  cuda::std::optional<unsigned> maybe;
  if (i < 1000) maybe = sum(three[0], three[1], three[2]);
  out[i] = maybe.value_or(0) + cuda::std::get<0>(both) + cuda::std::get<1>(both);
}
