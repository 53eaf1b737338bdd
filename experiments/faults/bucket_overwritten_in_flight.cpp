// DeepSpeed #5545: backward fills a bucket again that is still being reduced. A stage waits for the
// event "bucket free"; this device forgets to.
#include <string_view>

#include "experiments/faults/faults.h"
#include "experiments/faults/labelled_fault.h"
#include "stages/device/forwarding.h"

namespace zerolab {
namespace {

constexpr std::string_view kForgotten = "bucket free";

class ForgetfulStream final : public ForwardingStream {
 public:
  using ForwardingStream::ForwardingStream;
  void wait(const Event& event, const char* reason) override {
    if (reason != kForgotten) inner().wait(event, reason);
  }
};

class ForgetfulDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  std::unique_ptr<Stream> create_stream(std::string name) override {
    return std::make_unique<ForgetfulStream>(inner().create_stream(std::move(name)));
  }
};

FaultLabel label() {
  FaultLabel label;
  label.name = "bucket-overwritten-in-flight";
  label.source = "DeepSpeed #5545, #5606";
  label.stage = "zero2";
  label.happened =
      "Backward copies the next gradients into a bucket without waiting for the reduction that "
      "still "
      "reads it.";
  label.seen =
      "With overlap on, the loss sometimes leaves the right curve or becomes NaN, differently in "
      "each "
      "run and not on every machine.";
  label.needs = {"--check ORD", "--overlap on", "--bucket-mb 0.04"};
  label.must_fire = {{"ORD", false, -1, "order", "bucket buffer"}};
  return label;
}

class BucketOverwrittenInFlight final : public LabelledFault {
 public:
  BucketOverwrittenInFlight() : LabelledFault(zerolab::label()) {}
  std::unique_ptr<Device> device(std::unique_ptr<Device> clean, int) const override {
    return std::make_unique<ForgetfulDevice>(std::move(clean));
  }
};

}  // namespace

std::unique_ptr<Fault> make_bucket_overwritten_in_flight() {
  return std::make_unique<BucketOverwrittenInFlight>();
}

}  // namespace zerolab
