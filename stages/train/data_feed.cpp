#include "stages/train/data_feed.h"

namespace zerolab {

DataFeed::DataFeed(const BatchSource& source, Device& device, Stream& compute, Kernels& kernels)
    : source_(source), compute_(compute), kernels_(kernels) {
  const BatchShape shape = source.shape();
  inputs_ = device.allocate(shape.dtype, shape.inputs, Category::kWorkspace, "inputs", compute);
  targets_ = device.allocate(shape.dtype, shape.targets, Category::kWorkspace, "targets", compute);
}

Batch DataFeed::training(std::int64_t step, std::int64_t index) {
  source_.training(step, index, host_);
  return upload(step);
}

Batch DataFeed::held_out(std::int64_t index) {
  const std::int64_t count = source_.held_out_count();
  if (count == 0) {
    bad_input(
        "[data] the held-out part (the last 10 %) is shorter than one sequence; give more data, a "
        "shorter --seq, or --eval-every 0");
  }
  source_.held_out(index % count, host_);
  return upload(0);
}

Batch DataFeed::upload(std::int64_t step) {
  kernels_.upload(compute_, host_.inputs.data(), static_cast<std::int64_t>(host_.inputs.size()),
                  inputs_.view());
  kernels_.upload(compute_, host_.targets.data(), static_cast<std::int64_t>(host_.targets.size()),
                  targets_.view());
  return {inputs_.view(), targets_.view(), step, host_.first_sample, 0, 1.0F};
}

}  // namespace zerolab
