// Batches as the process that drives the GPU is asked for them.
#include "harness/base/check.h"
#include "harness/device/cuda/gpu.h"

#include <cstring>
#include <utility>

namespace assay::cuda {

namespace {
constexpr std::chrono::milliseconds open_limit = std::chrono::minutes(1);
// What a case of a batch may take, on top of what the watchdog gives to a launch: far more than any case that
// is worth being run in a batch.
constexpr std::chrono::milliseconds limit_of_case{10};
} // namespace

Result<Reply> Gpu::open_batch(const BatchOrder& order, std::span<const std::byte> common) {
  ASSAY_TRY_VOID(ensure_server());
  std::memcpy(memory_.staging(), common.data(), common.size());
  Writer request;
  request.put(Request::open_batch);
  order.put(request);
  ASSAY_TRY(const std::string answer, ask(request, open_limit));
  Reader in(answer);
  Reply reply = Reply::take(in);
  if (reply.stage == Stage::transfer) server_.stop();
  return reply;
}

void Gpu::begin_batch(std::size_t cases, bool timed) {
  ASSAY_CHECK(!batch_begun_, "two batches at once");
  Writer request;
  request.put(Request::batch);
  request.put(cases);
  request.put(timed);
  batch_limit_ = watchdog_ + cases * limit_of_case;
  batch_deadline_ = std::chrono::steady_clock::now() + batch_limit_;
  batch_begun_ = true;
  server_.tell(request);
}

Gpu::BatchEnd Gpu::end_batch() {
  ASSAY_CHECK(std::exchange(batch_begun_, false), "no batch is under way");
  BatchEnd end;
  end.limit = batch_limit_;
  if (!server_.running()) {
    end.answered = Answered::died;
    return end;
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(batch_deadline_ -
                                                                          std::chrono::steady_clock::now());
  std::string answer;
  end.answered = server_.receive(left, answer);
  if (end.answered != Answered::yes) return end;
  Reader in(answer);
  end.reply = Reply::take(in);
  end.step_seconds = in.take_all<double>();
  if (end.reply.stage == Stage::run || end.reply.stage == Stage::transfer)
    server_.stop(); // its context is gone
  return end;
}

} // namespace assay::cuda
