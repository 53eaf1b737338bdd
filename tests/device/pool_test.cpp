#include <gtest/gtest.h>

#include <cstdint>

#include "stages/device/cpu/cpu_device.h"
#include "stages/device/observer.h"
#include "tests/device/work.h"

namespace zerolab {
namespace {

using testing::fill;
using testing::look;
using testing::pause;

/// Notes which stream waited for which reason.
struct WaitLog final : DeviceObserver {
  void host_stream_waits(const Stream& stream, const Event&, const char* reason) override {
    waits.push_back(stream.name() + ": " + reason);
  }
  std::vector<std::string> waits;
};

class PoolTest : public ::testing::Test {
 protected:
  Buffer floats(std::int64_t count, Stream& first_user) {
    return device_->allocate(DType::kFloat32, count, Category::kWorkspace, "x", first_user);
  }

  WaitLog log_;
  std::unique_ptr<Device> device_ = make_cpu_device({.observers = {&log_}});
  std::unique_ptr<Stream> compute_ = device_->create_stream("compute");
  std::unique_ptr<Stream> communication_ = device_->create_stream("communication");
};

TEST_F(PoolTest, AlignsEveryBufferTo64Bytes) {
  std::vector<Buffer> kept;
  for (const std::int64_t count : {1, 3, 17, 255, 1000, 8193, 100003, 3000001}) {
    kept.push_back(floats(count, *compute_));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(kept.back().view().data) % 64, 0U) << count;
  }
}

TEST_F(PoolTest, AlignsLargeBuffersToPages) {
  const Buffer large = floats(3000001, *compute_);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.view().data) % 4096, 0U);
}

TEST_F(PoolTest, BuffersInUseDoNotOverlap) {
  std::vector<Buffer> kept;
  for (int i = 0; i < 200; ++i) {
    kept.push_back(floats(1 + 37 * i, *compute_));
    fill(*compute_, kept.back().view(), static_cast<float>(i));
  }
  std::vector<std::vector<float>> seen(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) look(*compute_, kept[i].view(), seen[i]);
  compute_->synchronize();

  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(seen[i], std::vector<float>(seen[i].size(), static_cast<float>(i)));
  }
}

TEST_F(PoolTest, ReusesAFreedBlockAtOnce) {
  pause(*compute_, 5);
  Buffer first = floats(1000, *compute_);
  const std::byte* address = first.view().data;
  fill(*compute_, first.view(), 1);
  first.reset();  // the work is still queued

  const Buffer second = floats(990, *compute_);
  EXPECT_EQ(second.view().data, address);
}

TEST_F(PoolTest, NewUserWaitsForTheStreamsThatUsedTheBlock) {
  Buffer first = floats(1000, *compute_);
  std::vector<float> seen;
  fill(*compute_, first.view(), 1);
  communication_->wait(compute_->record(), "complete");
  pause(*communication_, 5);
  look(*communication_, first.view(), seen);
  first.reset();

  const Buffer second = floats(1000, *compute_);
  fill(*compute_, second.view(), 2);
  compute_->synchronize();
  communication_->synchronize();

  EXPECT_EQ(log_.waits.back(), "compute: memory reuse");
  EXPECT_EQ(seen, std::vector<float>(1000, 1.0F));
}

TEST_F(PoolTest, NewUserDoesNotWaitForStreamsThatNeverTouchedTheBlock) {
  Buffer first = floats(1000, *compute_);
  fill(*compute_, first.view(), 1);
  pause(*communication_, 1);
  first.reset();

  const Buffer second = floats(1000, *compute_);
  EXPECT_TRUE(log_.waits.empty());
}

TEST_F(PoolTest, AStreamThatOnlyUsedASliceCounts) {
  Buffer first = floats(1000, *compute_);
  fill(*compute_, first.view(), 1);
  communication_->wait(compute_->record(), "complete");
  fill(*communication_, first.slice(993, 7), 2);
  first.reset();

  const Buffer second = floats(1000, *compute_);
  EXPECT_EQ(log_.waits.back(), "compute: memory reuse");
}

TEST_F(PoolTest, ReuseByTheOnlyUserNeedsNoWait) {
  Buffer first = floats(1000, *communication_);
  fill(*communication_, first.view(), 1);
  first.reset();
  const Buffer second = floats(1000, *communication_);
  EXPECT_TRUE(log_.waits.empty());
}

TEST_F(PoolTest, BlocksOfADestroyedStreamAreReusable) {
  auto third = device_->create_stream("short-lived");
  Buffer first = floats(1000, *third);
  fill(*third, first.view(), 1);
  first.reset();
  third.reset();

  const Buffer second = floats(1000, *compute_);
  fill(*compute_, second.view(), 2);
  compute_->synchronize();
}

TEST_F(PoolTest, RepeatingAStepTakesNothingMoreFromTheSystem) {
  const auto step = [&] {
    std::vector<Buffer> buffers;
    for (const std::int64_t count : {5, 100, 70000, 9000, 1000000}) {
      buffers.push_back(floats(count, *compute_));
    }
  };
  step();
  const std::int64_t after_one = device_->reserved_bytes();
  for (int i = 0; i < 10; ++i) step();

  EXPECT_GT(after_one, 4 * 1079105);
  EXPECT_EQ(device_->reserved_bytes(), after_one);
}

TEST_F(PoolTest, ReservesLittleMoreThanLargeBuffersNeed) {
  const Buffer large = floats(10000019, *compute_);
  EXPECT_GE(device_->reserved_bytes(), large.view().bytes());
  EXPECT_LE(device_->reserved_bytes(), large.view().bytes() + 4096);
}

TEST_F(PoolTest, EmptyBufferNeedsNoMemory) {
  const Buffer empty = floats(0, *compute_);
  EXPECT_TRUE(empty.empty());
  EXPECT_EQ(empty.view().dtype, DType::kFloat32);
  EXPECT_EQ(device_->reserved_bytes(), 0);
}

TEST_F(PoolTest, NegativeCountIsRefused) { EXPECT_THROW(floats(-1, *compute_), std::logic_error); }

TEST_F(PoolTest, LedgerCountsRequestedBytesInHostOrder) {
  MemoryLedger& ledger = device_->ledger();
  Buffer a = device_->allocate(DType::kFloat32, 5, Category::kGradients, "a", *compute_);
  Buffer b = device_->allocate(DType::kBFloat16, 7, Category::kActivations, "b", *compute_);
  pause(*compute_, 2);
  a.reset();
  const Buffer c = device_->allocate(DType::kFloat64, 3, Category::kGradients, "c", *compute_);

  EXPECT_EQ(ledger.held(Category::kGradients), 24);
  EXPECT_EQ(ledger.held(Category::kActivations), 14);
  EXPECT_EQ(ledger.peak_total(), 24 + 14);
  EXPECT_EQ(ledger.peak()[static_cast<std::size_t>(Category::kGradients)], 24);
}

TEST_F(PoolTest, MovedBufferIsFreedOnce) {
  Buffer a = floats(10, *compute_);
  Buffer b = std::move(a);
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(device_->ledger().held(Category::kWorkspace), 40);
  b = floats(3, *compute_);
  EXPECT_EQ(device_->ledger().held(Category::kWorkspace), 12);
  b.reset();
  EXPECT_EQ(device_->ledger().held(Category::kWorkspace), 0);
}

TEST_F(PoolTest, AllocatingForAStreamOfAnotherDeviceIsRefused) {
  const auto other = make_cpu_device();
  EXPECT_THROW(other->allocate(DType::kFloat32, 5, Category::kWorkspace, "x", *communication_),
               Failure);
}

}  // namespace
}  // namespace zerolab
