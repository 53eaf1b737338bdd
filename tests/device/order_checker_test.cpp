#include "stages/device/order_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "stages/device/cpu/cpu_device.h"
#include "stages/device/jitter.h"
#include "tests/device/work.h"

namespace zerolab {
namespace {

using testing::add_one;
using ::testing::ElementsAre;
using testing::fill;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::look;
using testing::pause;
using ::testing::SizeIs;

// Where a wait is forgotten on purpose the operations only declare: ThreadSanitizer runs this too.
void reads(Stream& stream, View view, const char* name = "read") {
  stream.launch({name, "", {view}, {}, [] {}});
}
void writes(Stream& stream, View view, const char* name = "write") {
  stream.launch({name, "", {}, {view}, [] {}});
}

class OrderTest : public ::testing::Test {
 protected:
  Buffer floats(std::int64_t count, const char* name, Stream& first_user) {
    return device_->allocate(DType::kFloat32, count, Category::kWorkspace, name, first_user);
  }
  const std::vector<OrderViolation>& violations() const { return order_.violations(); }

  std::vector<float> seen_;  // outlives the streams, which may still write it
  OrderChecker order_;
  std::unique_ptr<Device> device_ = make_cpu_device({.observers = {&order_}});
  std::unique_ptr<Stream> compute_ = device_->create_stream("compute");
  std::unique_ptr<Stream> communication_ = device_->create_stream("communication");
};

TEST_F(OrderTest, WorkOfOneStreamIsOrdered) {
  const Buffer x = floats(10, "x", *compute_);
  fill(*compute_, x.view(), 1);
  look(*compute_, x.view(), seen_);
  fill(*compute_, x.view(), 2);
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OrderTest, ForgottenWaitIsReportedWithBothOperations) {
  const Buffer x = floats(100, "bucket 0", *compute_);
  compute_->launch({"copy", "h.2", {}, {x.view()}, [] {}});
  communication_->launch({"reduce_scatter", "bucket 0", {x.slice(30, 20)}, {}, [] {}});

  ASSERT_THAT(violations(), SizeIs(1));
  const OrderViolation& violation = violations()[0];
  EXPECT_EQ(violation.kind, OrderViolation::Kind::kUnordered);
  EXPECT_EQ(violation.first.operation, "copy");
  EXPECT_EQ(violation.first.detail, "h.2");
  EXPECT_EQ(violation.first.stream, "compute");
  EXPECT_TRUE(violation.first.writes);
  EXPECT_EQ(violation.second.operation, "reduce_scatter");
  EXPECT_EQ(violation.second.stream, "communication");
  EXPECT_EQ(violation.second.buffer, "bucket 0");
  EXPECT_FALSE(violation.second.writes);
  EXPECT_EQ(violation.dtype, DType::kFloat32);
  EXPECT_EQ(violation.elements, (Range{30, 50}));
  EXPECT_THAT(violation.wait_reasons, IsEmpty());
  EXPECT_EQ(violation.describe(),
            "[order] reduce_scatter (bucket 0) on stream 'communication' reads elements [30, 50) "
            "of 'bucket 0' (fp32) while copy (h.2) on stream 'compute' may still write them; no "
            "event orders the two, and 'communication' has waited for 'compute' never");
}

TEST_F(OrderTest, NamesTheWaitsThatExist) {
  const Buffer x = floats(10, "x", *compute_);
  writes(*compute_, x.view());
  communication_->wait(compute_->record(), "gradients complete");
  reads(*communication_, x.view());
  writes(*compute_, x.view());  // the wait for "bucket free" is missing
  communication_->wait(compute_->record(), "gradients complete");
  writes(*compute_, x.view());
  reads(*communication_, x.view());

  ASSERT_THAT(violations(), SizeIs(2));
  EXPECT_THAT(violations()[0].wait_reasons, IsEmpty());
  EXPECT_THAT(violations()[1].wait_reasons, ElementsAre("gradients complete"));
}

TEST_F(OrderTest, TwoReadsNeedNoOrder) {
  const Buffer x = floats(10, "x", *compute_);
  fill(*compute_, x.view(), 1);
  communication_->wait(compute_->record(), "x complete");
  std::vector<float> other;
  look(*compute_, x.view(), seen_);
  look(*communication_, x.view(), other);
  communication_->synchronize();
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OrderTest, WritingAfterAnUnorderedReadIsReported) {
  const Buffer x = floats(10, "x", *compute_);
  fill(*compute_, x.view(), 1);
  communication_->wait(compute_->record(), "x complete");
  reads(*communication_, x.view(), "all_gather");
  writes(*compute_, x.view(), "overwrite");

  ASSERT_THAT(violations(), SizeIs(1));
  EXPECT_EQ(violations()[0].first.operation, "all_gather");
  EXPECT_FALSE(violations()[0].first.writes);
  EXPECT_EQ(violations()[0].second.operation, "overwrite");
}

TEST_F(OrderTest, DisjointSlicesDoNotConflict) {
  const Buffer x = floats(10, "x", *compute_);
  fill(*compute_, x.slice(0, 0), 1);
  communication_->wait(compute_->record(), "x allocated");
  fill(*compute_, x.slice(0, 5), 1);
  fill(*communication_, x.slice(5, 5), 2);
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OrderTest, OverlapOfOneElementIsReported) {
  const Buffer x = floats(10, "x", *compute_);
  fill(*compute_, x.slice(0, 0), 1);
  communication_->wait(compute_->record(), "x allocated");
  compute_->launch({"fill", "", {}, {x.slice(0, 6)}, [] {}});
  communication_->launch({"fill", "", {}, {x.slice(5, 5)}, [] {}});
  ASSERT_THAT(violations(), SizeIs(1));
  EXPECT_EQ(violations()[0].elements, (Range{5, 6}));
}

TEST_F(OrderTest, OrderIsTransitiveThroughAThirdStream) {
  const auto third = device_->create_stream("offload");
  const Buffer x = floats(10, "x", *compute_);
  fill(*compute_, x.view(), 1);
  third->wait(compute_->record(), "x complete");
  third->launch({"nothing", "", {}, {}, [] {}});
  communication_->wait(third->record(), "offload ready");
  look(*communication_, x.view(), seen_);
  communication_->synchronize();
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OrderTest, WaitingForAnEarlierEventIsNotEnough) {
  const Buffer x = floats(10, "x", *compute_);
  compute_->launch({"first", "", {}, {x.view()}, [] {}});
  const Event early = compute_->record();
  compute_->launch({"second", "", {}, {x.view()}, [] {}});
  communication_->wait(early, "x complete");
  communication_->launch({"read", "", {x.view()}, {}, [] {}});
  ASSERT_THAT(violations(), SizeIs(1));
  EXPECT_EQ(violations()[0].first.operation, "second");
}

TEST_F(OrderTest, HostWaitOrdersWhateverIsLaunchedLater) {
  const Buffer x = floats(10, "x", *compute_);
  fill(*compute_, x.view(), 1);
  compute_->synchronize();
  look(*communication_, x.view(), seen_);
  communication_->record().host_wait();
  fill(*compute_, x.view(), 2);
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OrderTest, PollingAnEventOrdersNothing) {
  const Buffer x = floats(10, "x", *compute_);
  compute_->launch({"fill", "", {}, {x.view()}, [] {}});
  const Event event = compute_->record();
  while (!event.happened()) std::this_thread::yield();
  communication_->launch({"read", "", {x.view()}, {}, [] {}});
  EXPECT_THAT(violations(), SizeIs(1));
}

TEST_F(OrderTest, OtherStreamsMustBeOrderedAfterTheFirstUser) {
  const Buffer x = floats(10, "x", *compute_);
  communication_->launch({"fill", "", {}, {x.view()}, [] {}});
  ASSERT_THAT(violations(), SizeIs(1));
  EXPECT_EQ(violations()[0].first.operation, "allocation");
}

TEST_F(OrderTest, ReuseOfAFreedBlockIsOrderedByThePool) {
  Buffer x = floats(10, "x", *compute_);
  fill(*compute_, x.view(), 1);
  communication_->wait(compute_->record(), "x complete");
  look(*communication_, x.view(), seen_);
  const std::byte* address = x.view().data;
  x.reset();
  const Buffer y = floats(10, "y", *compute_);
  fill(*compute_, y.view(), 2);
  communication_->synchronize();

  EXPECT_EQ(y.view().data, address);
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(OrderTest, MemoryHandedOutWhileInUseIsReportedUnderBothNames) {
  const auto device = make_cpu_device();  // without the checker, which sees a careless pool instead
  const auto compute = device->create_stream("compute");
  const auto communication = device->create_stream("communication");
  std::array<float, 4> memory{};
  Allocation block;
  block.data = reinterpret_cast<std::byte*>(memory.data());
  block.bytes = 16;
  block.dtype = DType::kFloat32;
  const View view{block.data, DType::kFloat32, 4};

  block.name = "gathered h.2";
  order_.host_allocated(block, *communication);
  order_.host_launched(*communication, {"all_gather", "h.2", {}, {view}, {}});
  order_.host_freed(block);
  block.name = "gathered h.3";
  order_.host_allocated(block, *compute);

  ASSERT_THAT(violations(), SizeIs(1));
  EXPECT_EQ(violations()[0].first.buffer, "gathered h.2");
  EXPECT_EQ(violations()[0].second.buffer, "gathered h.3");
  EXPECT_THAT(violations()[0].describe(), HasSubstr("as part of 'gathered h.2', freed since"));
}

TEST_F(OrderTest, AccessToAFreedBufferIsReported) {
  Buffer x = floats(10, "x", *compute_);
  const View stale = x.view();
  x.reset();
  compute_->launch({"late", "", {stale}, {}, [] {}});

  ASSERT_THAT(violations(), SizeIs(1));
  EXPECT_EQ(violations()[0].kind, OrderViolation::Kind::kUseAfterFree);
  EXPECT_EQ(violations()[0].elements, (Range{0, 10}));
  EXPECT_THAT(violations()[0].describe(), HasSubstr("after the buffer was freed"));
}

TEST_F(OrderTest, PoisonedReuseIsOrdered) {
  OrderChecker order;
  const auto device = make_cpu_device({.observers = {&order}, .poison = true});
  const auto compute = device->create_stream("compute");
  const auto communication = device->create_stream("communication");
  for (int i = 0; i < 20; ++i) {
    const Buffer x = device->allocate(DType::kFloat32, 10, Category::kWorkspace, "x", *compute);
    fill(*compute, x.view(), 1);
    communication->wait(compute->record(), "x complete");
    look(*communication, x.view(), seen_);
  }
  communication->synchronize();
  EXPECT_THAT(order.violations(), IsEmpty());
}

TEST_F(OrderTest, ThrowsTheFirstViolationWithTheirNumber) {
  EXPECT_NO_THROW(order_.throw_if_any());
  const Buffer x = floats(10, "x", *compute_);
  communication_->launch({"early", "", {}, {x.view()}, [] {}});
  compute_->launch({"late", "", {}, {x.view()}, [] {}});
  try {
    order_.throw_if_any();
    FAIL() << "did not throw";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("early on stream 'communication' writes"));
    EXPECT_THAT(failure.what(), HasSubstr("2 such conflicts"));
  }
}

/// Compute fills one of two buckets while communication reads the other.
std::vector<std::string> double_buffer(std::uint64_t seed, bool wait_for_free_bucket) {
  OrderChecker order;
  Jitter jitter(seed, 0, std::chrono::microseconds(50));
  const auto device = make_cpu_device({.observers = {&order, &jitter}});
  const auto compute = device->create_stream("compute");
  const auto communication = device->create_stream("communication");
  std::vector<Buffer> buckets;
  std::vector<Event> free(2);
  for (int i = 0; i < 2; ++i) {
    buckets.push_back(
        device->allocate(DType::kFloat32, 33, Category::kGradientBuckets, "bucket", *compute));
  }
  const Buffer sum =
      device->allocate(DType::kFloat32, 33, Category::kGradients, "sum", *communication);
  for (std::size_t i = 0; i < 8; ++i) {
    const View bucket = buckets[i % 2].view();
    if (wait_for_free_bucket) compute->wait(free[i % 2], "bucket free");
    // The bytes are left alone: a forgotten wait must not be a data race of this test.
    compute->launch({"copy", "", {}, {bucket}, [] {}});
    communication->wait(compute->record(), "bucket full");
    communication->launch({"reduce_scatter", "", {bucket}, {sum.view()}, [] {}});
    free[i % 2] = communication->record();
  }
  compute->wait(communication->record(), "sum complete");
  compute->launch({"adamw", "", {sum.view()}, {}, [] {}});
  compute->synchronize();
  std::vector<std::string> sentences;
  for (const OrderViolation& violation : order.violations()) {
    sentences.push_back(violation.describe());
  }
  return sentences;
}

TEST(OrderOfDoubleBuffering, IsCompleteWithBothWaits) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) EXPECT_THAT(double_buffer(seed, true), IsEmpty());
}

TEST(OrderOfDoubleBuffering, DroppedWaitIsFoundInTheSameWordsWhateverTheTiming) {
  const auto expected = double_buffer(0, false);
  ASSERT_THAT(expected, SizeIs(6));  // every use of a bucket but the first two
  EXPECT_THAT(expected[0], HasSubstr("copy on stream 'compute' writes elements [0, 33) of 'bucket' "
                                     "(fp32) while reduce_scatter on stream 'communication' may "
                                     "still read them"));
  for (std::uint64_t seed = 1; seed < 10; ++seed) EXPECT_EQ(double_buffer(seed, false), expected);
}

// ---- the interval bookkeeping against a byte-by-byte model ----------------------------------

TEST(AccessHistoryTest, AgreesWithEveryPairComparedByteByByte) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    AccessHistory history;
    constexpr std::size_t kStreams = 3;
    std::array<std::byte, 40> memory{};
    struct Past {
      std::size_t begin, end;
      AccessPtr access;
    };
    std::vector<Past> all;
    std::vector<VectorClock> clocks(kStreams);
    for (int step = 0; step < 30; ++step) {
      const std::size_t slot = random() % kStreams;
      if (random() % 3 == 0) clocks[slot].join(clocks[random() % kStreams]);
      const std::size_t begin = random() % 39;
      const std::size_t end = begin + 1 + random() % (40 - begin - 1 + 1);
      auto access = std::make_shared<Access>();
      access->slot = slot;
      access->time = clocks[slot].tick(slot);
      access->writes = random() % 2 == 0;
      bool expected = false;
      for (const Past& past : all) {
        const bool overlaps = past.begin < end && begin < past.end;
        const bool conflicts = past.access->writes || access->writes;
        const bool ordered =
            past.access->slot == slot || clocks[slot][past.access->slot] >= past.access->time;
        expected = expected || (overlaps && conflicts && !ordered);
      }
      all.push_back({begin, end, access});

      const auto found =
          history.add({memory.data() + begin, memory.data() + end}, access, clocks[slot]);

      ASSERT_EQ(!found.empty(), expected) << "round " << round << " step " << step;
      // Once a pair is unordered the history keeps only the later; start afresh.
      if (expected) break;
    }
  }
}

TEST(AccessHistoryTest, StaysSmallOverManySteps) {
  AccessHistory history;
  VectorClock clock;
  std::array<std::byte, 1000> memory{};
  for (int step = 0; step < 10000; ++step) {
    auto access = std::make_shared<Access>();
    access->time = clock.tick(0);
    access->writes = step % 100 == 0;
    const auto begin = access->writes ? 0 : static_cast<std::size_t>(step % 10) * 100;
    const auto end = access->writes ? memory.size() : begin + 100;
    history.add({memory.data() + begin, memory.data() + end}, access, clock);
  }
  EXPECT_LE(history.size(), 10U);
}

}  // namespace
}  // namespace zerolab
