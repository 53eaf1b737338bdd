#include "stages/device/forwarding.h"

#include <gtest/gtest.h>

#include "stages/device/cpu/cpu_device.h"
#include "stages/device/order_checker.h"
#include "tests/device/work.h"

namespace zerolab {
namespace {

/// A fault: the wait with one reason is not made.
class ForgetfulStream final : public ForwardingStream {
 public:
  ForgetfulStream(std::unique_ptr<Stream> inner, std::string forgotten)
      : ForwardingStream(std::move(inner)), forgotten_(std::move(forgotten)) {}
  void wait(const Event& event, const char* reason) override {
    if (reason != forgotten_) inner().wait(event, reason);
  }

 private:
  std::string forgotten_;
};

class ForgetfulDevice final : public ForwardingDevice {
 public:
  ForgetfulDevice(std::unique_ptr<Device> inner, std::string forgotten)
      : ForwardingDevice(std::move(inner)), forgotten_(std::move(forgotten)) {}
  std::unique_ptr<Stream> create_stream(std::string name) override {
    return std::make_unique<ForgetfulStream>(inner().create_stream(std::move(name)), forgotten_);
  }

 private:
  std::string forgotten_;
};

std::int64_t violations_when_forgetting(const std::string& reason) {
  OrderChecker order;
  ForgetfulDevice device(make_cpu_device({.observers = {&order}}), reason);
  const auto compute = device.create_stream("compute");
  const auto communication = device.create_stream("communication");
  const Buffer x = device.allocate(DType::kFloat32, 9, Category::kWorkspace, "x", *compute);
  compute->launch({"write", "", {}, {x.view()}, [] {}});
  communication->wait(compute->record(), "bucket full");
  communication->launch({"read", "", {x.view()}, {}, [] {}});
  compute->wait(communication->record(), "bucket free");
  compute->launch({"write", "", {}, {x.view()}, [] {}});
  compute->synchronize();
  return order.violation_count();
}

TEST(Forwarding, PassesEverythingOn) {
  ForwardingDevice device(make_cpu_device());
  ForwardingStream stream(device.create_stream("compute"));
  std::vector<float> seen;
  {
    const Buffer x = device.allocate(DType::kFloat32, 9, Category::kGradients, "x", stream);
    EXPECT_EQ(device.ledger().held(Category::kGradients), 36);
    EXPECT_GT(device.reserved_bytes(), 0);
    testing::fill(stream, x.view(), 5);
    testing::look(stream, x.view(), seen);
    stream.wait(stream.record(), "own");
    stream.synchronize();
  }
  EXPECT_EQ(seen, std::vector<float>(9, 5.0F));
  EXPECT_EQ(stream.id(), 0);
  EXPECT_EQ(stream.name(), "compute");
  EXPECT_EQ(device.ledger().held(Category::kGradients), 0);
}

TEST(Forwarding, DecoratorCanDropOneNamedWait) {
  EXPECT_EQ(violations_when_forgetting("none"), 0);
  EXPECT_EQ(violations_when_forgetting("bucket full"), 1);
  EXPECT_EQ(violations_when_forgetting("bucket free"), 1);
}

}  // namespace
}  // namespace zerolab
