#include <gtest/gtest.h>

#include "stages/core/error.h"
#include "stages/device/cpu/cpu_device.h"
#include "tests/device/work.h"

namespace zerolab {
namespace {

void throw_in(Stream& stream, const char* message) {
  stream.launch({"throw", "", {}, {}, [message] { throw Failure(message); }});
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

class FailureTest : public ::testing::Test {
 protected:
  std::unique_ptr<Device> device_ = make_cpu_device();
  std::unique_ptr<Stream> compute_ = device_->create_stream("compute");
  std::unique_ptr<Stream> communication_ = device_->create_stream("communication");
};

TEST_F(FailureTest, IsRethrownBySynchronize) {
  throw_in(*compute_, "disk full");
  EXPECT_EQ(message_of([&] { compute_->synchronize(); }), "disk full");
}

TEST_F(FailureTest, IsRethrownByEveryLaterCall) {
  throw_in(*compute_, "disk full");
  EXPECT_EQ(message_of([&] { compute_->synchronize(); }), "disk full");
  EXPECT_EQ(message_of([&] { compute_->launch({}); }), "disk full");
  EXPECT_EQ(message_of([&] { compute_->record(); }), "disk full");
  EXPECT_EQ(message_of([&] { compute_->wait({}, "any"); }), "disk full");
}

TEST_F(FailureTest, SkipsLaterWorkOfTheStream) {
  bool ran = false;
  throw_in(*compute_, "disk full");
  try {
    compute_->launch({"later", "", {}, {}, [&] { ran = true; }});
    compute_->synchronize();
  } catch (const Failure&) {
  }
  compute_.reset();
  EXPECT_FALSE(ran);
}

TEST_F(FailureTest, LetsEventsHappenSoThatNobodyHangs) {
  throw_in(*compute_, "disk full");
  // The failure may or may not have happened when these are queued.
  try {
    communication_->wait(compute_->record(), "gradients complete");
  } catch (const Failure&) {
  }
  EXPECT_EQ(message_of([&] { communication_->synchronize(); }), "disk full");
}

TEST_F(FailureTest, OfAStreamIsSeenByWhoeverWaitedForItThroughAnotherStream) {
  const auto device = make_cpu_device();
  const auto compute = device->create_stream("compute");
  const auto communication = device->create_stream("communication");
  std::atomic<bool> released = false;
  compute->launch({"throw", "", {}, {}, [&] {
                     while (!released) std::this_thread::yield();
                     throw Failure("disk full");
                   }});
  communication->wait(compute->record(), "gradients complete");
  released = true;
  EXPECT_EQ(message_of([&] { communication->synchronize(); }), "disk full");
}

TEST_F(FailureTest, IsRethrownByTheHostsWaitForAnEvent) {
  std::atomic<bool> released = false;
  compute_->launch({"throw", "", {}, {}, [&] {
                      while (!released) std::this_thread::yield();
                      throw Failure("disk full");
                    }});
  const Event event = compute_->record();
  released = true;
  EXPECT_EQ(message_of([&] { event.host_wait(); }), "disk full");
}

TEST_F(FailureTest, TheFirstOneWins) {
  throw_in(*compute_, "first");
  EXPECT_EQ(message_of([&] { compute_->synchronize(); }), "first");
  EXPECT_EQ(message_of([&] { throw_in(*communication_, "second"); }), "first");
  EXPECT_EQ(message_of([&] { communication_->synchronize(); }), "first");
}

TEST_F(FailureTest, DoesNotStopBuffersFromBeingFreed) {
  Buffer x = device_->allocate(DType::kFloat32, 5, Category::kWorkspace, "x", *compute_);
  testing::fill(*compute_, x.view(), 1);
  throw_in(*compute_, "disk full");
  EXPECT_EQ(message_of([&] { compute_->synchronize(); }), "disk full");
  x.reset();
  EXPECT_EQ(device_->ledger().held(Category::kWorkspace), 0);
}

TEST_F(FailureTest, NotSeenByTheHostDoesNotDisturbDestruction) {
  throw_in(*compute_, "disk full");
  compute_.reset();
  communication_.reset();
  device_.reset();
}

}  // namespace
}  // namespace zerolab
