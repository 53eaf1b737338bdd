#include "stages/device/stream.h"

#include <gtest/gtest.h>

#include <atomic>

#include "stages/device/cpu/cpu_device.h"
#include "tests/device/work.h"

namespace zerolab {
namespace {

using testing::fill;
using testing::look;
using testing::pause;

class StreamTest : public ::testing::Test {
 protected:
  Buffer floats(std::int64_t count, Stream& first_user) {
    return device_->allocate(DType::kFloat32, count, Category::kWorkspace, "x", first_user);
  }

  std::unique_ptr<Device> device_ = make_cpu_device();
  std::unique_ptr<Stream> compute_ = device_->create_stream("compute");
  std::unique_ptr<Stream> communication_ = device_->create_stream("communication");
};

TEST_F(StreamTest, RunsWorkInTheOrderOfLaunches) {
  std::vector<int> seen;
  for (int i = 0; i < 1000; ++i) {
    compute_->launch({"append", "", {}, {}, [&, i] { seen.push_back(i); }});
  }
  compute_->synchronize();

  ASSERT_EQ(seen.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST_F(StreamTest, LaunchDoesNotWaitForTheWork) {
  std::atomic<bool> released = false;
  compute_->launch({"wait for the host", "", {}, {}, [&] {
                      while (!released) std::this_thread::yield();
                    }});
  const Event after = compute_->record();

  EXPECT_FALSE(after.happened());
  released = true;
  after.host_wait();
  EXPECT_TRUE(after.happened());
}

TEST_F(StreamTest, HasNameAndIdInOrderOfCreation) {
  EXPECT_EQ(compute_->id(), 0);
  EXPECT_EQ(communication_->id(), 1);
  EXPECT_EQ(communication_->name(), "communication");
}

TEST_F(StreamTest, WaitsForAnotherStreamsEvent) {
  const Buffer x = floats(7, *compute_);
  std::vector<float> seen;

  pause(*compute_, 5);
  fill(*compute_, x.view(), 3);
  communication_->wait(compute_->record(), "x complete");
  look(*communication_, x.view(), seen);
  communication_->synchronize();

  EXPECT_EQ(seen, std::vector<float>(7, 3.0F));
}

TEST_F(StreamTest, WaitsForAnEventOnlyUpToWhereItWasRecorded) {
  std::atomic<bool> released = false;
  const Event early = compute_->record();
  compute_->launch({"first", "", {}, {}, [] {}});
  const Event first = compute_->record();
  compute_->launch({"wait for the host", "", {}, {}, [&] {
                      while (!released) std::this_thread::yield();
                    }});

  communication_->wait(early, "nothing launched yet");
  communication_->wait(first, "first ended");
  communication_->synchronize();  // would hang if it waited for the second operation

  released = true;
  compute_->synchronize();
}

TEST_F(StreamTest, ManyMoreEventsThanFlagsKeepTheOrder) {
  const Buffer x = floats(1, *compute_);
  std::vector<float> seen(5000, -1);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    fill(*compute_, x.view(), static_cast<float>(i));
    communication_->wait(compute_->record(), "x complete");
    communication_->launch({"look", "", {x.view()}, {}, [&seen, i, view = x.view()] {
                              seen[i] = view.as<float>()[0];
                            }});
    compute_->wait(communication_->record(), "x free");
  }
  communication_->synchronize();

  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<float>(i));
}

TEST_F(StreamTest, SeveralStreamsAndTheHostMayWaitForOneEvent) {
  const auto third = device_->create_stream("offload");
  std::atomic<int> passed = 0;
  pause(*compute_, 5);
  const Event event = compute_->record();
  for (Stream* stream : {communication_.get(), third.get()}) {
    stream->wait(event, "pause over");
    stream->launch({"count", "", {}, {}, [&] { ++passed; }});
  }
  event.host_wait();
  communication_->synchronize();
  third->synchronize();

  EXPECT_EQ(passed, 2);
}

TEST_F(StreamTest, WaitingForItsOwnPastHasNoEffect) {
  pause(*compute_, 1);
  compute_->wait(compute_->record(), "own");
  compute_->synchronize();
}

TEST_F(StreamTest, DefaultEventHasHappened) {
  const Event event;
  compute_->wait(event, "nothing");
  event.host_wait();
  EXPECT_TRUE(event.happened());
}

TEST_F(StreamTest, RecordingTwiceWithoutWorkBetweenGivesTheSameEvent) {
  pause(*compute_, 1);
  const Event first = compute_->record();
  EXPECT_EQ(compute_->record().id(), first.id());
  pause(*compute_, 1);
  EXPECT_NE(compute_->record().id(), first.id());
}

TEST_F(StreamTest, EventsOfAnotherDeviceAreRefused) {
  const auto other = make_cpu_device();
  const auto stream = other->create_stream("compute");
  pause(*stream, 1);
  EXPECT_THROW(compute_->wait(stream->record(), "foreign"), std::logic_error);
}

TEST_F(StreamTest, EventsOutliveTheirStreamAndDevice) {
  Event event;
  {
    const auto device = make_cpu_device();
    const auto stream = device->create_stream("short-lived");
    pause(*stream, 1);
    event = stream->record();
  }
  EXPECT_TRUE(event.happened());
  event.host_wait();
}

TEST_F(StreamTest, DestructionRunsWhatIsQueued) {
  int count = 0;
  pause(*compute_, 2);
  for (int i = 0; i < 10; ++i) compute_->launch({"count", "", {}, {}, [&] { ++count; }});
  compute_.reset();
  EXPECT_EQ(count, 10);
}

TEST_F(StreamTest, DeviceMayGoBeforeItsStreams) {
  int count = 0;
  pause(*compute_, 2);
  compute_->launch({"count", "", {}, {}, [&] { ++count; }});
  device_.reset();
  EXPECT_EQ(count, 1);
  compute_->launch({"count", "", {}, {}, [&] { ++count; }});
  compute_->synchronize();
  EXPECT_EQ(count, 2);
}

TEST_F(StreamTest, WhatAnOperationHoldsIsGoneOnceItsStreamIsSynchronised) {
  auto held = std::make_shared<int>(7);
  const std::weak_ptr<int> watch = held;
  compute_->launch({"hold", "", {}, {}, [held = std::move(held)] {}});
  compute_->synchronize();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace zerolab
