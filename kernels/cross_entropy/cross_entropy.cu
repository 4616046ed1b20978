// loss = log(sum(exp(x - max))) - (x[target] - max) of each row of logits, and its gradient; a target of -100
// is ignored: loss and gradient 0. One block a row. The maximum and the sum are found in one pass and kept
// for the backward pass, which then needs only one.
#include "../common/pack.h"
#include "../common/softmax_state.h"

constexpr int ignore_index = -100;

template <class T>
__global__ void __launch_bounds__(1024)
    cross_entropy_forward(const T* __restrict__ logits, long long logits_row, const int* __restrict__ target,
                          float* __restrict__ loss, SoftmaxState* __restrict__ states, int classes) {
  const T* in = logits + blockIdx.x * logits_row;
  SoftmaxState row = MergeSoftmax::identity();
  visit(block_team(), classes, [&](long long, float v) { row = MergeSoftmax()(row, {v, 1.0f}); }, in);
  row = block_reduce(row, MergeSoftmax());
  if (threadIdx.x != 0) return;
  const int wanted = target[blockIdx.x];
  states[blockIdx.x] = row;
  loss[blockIdx.x] = wanted == ignore_index ? 0.0f : logf(row.sum) - (widen(in[wanted]) - row.largest);
}

template <class T>
__global__ void __launch_bounds__(1024)
    cross_entropy_backward(const T* __restrict__ logits, long long logits_row, const int* __restrict__ target,
                           const float* __restrict__ grad_loss, const SoftmaxState* __restrict__ states,
                           T* __restrict__ grad_logits, int classes) {
  T* out = grad_logits + static_cast<size_t>(blockIdx.x) * classes;
  const int wanted = target[blockIdx.x];
  if (wanted == ignore_index) {
    transform(block_team(), classes, [](long long) { return 0.0f; }, out);
    return;
  }
  const SoftmaxState row = states[blockIdx.x];
  const float upstream = grad_loss[blockIdx.x];
  transform(
      block_team(), classes,
      [&](long long c, float v) {
        const float p = expf(v - row.largest) / row.sum;
        return upstream * (c == wanted ? p - 1.0f : p);
      },
      out, logits + blockIdx.x * logits_row);
}
