#include "stages/parallel/gradient_payload.h"

namespace zerolab {

GradientPayload::GradientPayload(Device& device, Stream& compute, Communicator& comm,
                                 Kernels& kernels, const Precision& precision, std::int64_t largest)
    : comm_(comm), kernels_(kernels) {
  if (precision.reduce == precision.gradients()) return;
  payload_ = device.allocate(precision.reduce, largest, Category::kGradientBuckets,
                             "gradients on their way", compute);
}

View GradientPayload::rounded(View gradients) {
  const View payload = payload_.slice(0, gradients.count);
  kernels_.cast(comm_.stream(), gradients, payload);
  return payload;
}

void GradientPayload::all_reduce(View in_out, const CallTag& tag) {
  if (payload_.empty()) return comm_.all_reduce(in_out, tag);
  const View payload = rounded(in_out);
  comm_.all_reduce(payload, tag);
  kernels_.cast(comm_.stream(), payload, in_out);
}

void GradientPayload::reduce_scatter(View input, View output, const CallTag& tag) {
  if (payload_.empty()) return comm_.reduce_scatter(input, output, tag);
  const View payload = rounded(input);
  const View slice = payload.slice(comm_.rank() * output.count, output.count);
  comm_.reduce_scatter(payload, slice, tag);
  kernels_.cast(comm_.stream(), slice, output);
}

}  // namespace zerolab
