#include <gtest/gtest.h>

#include <cmath>

#include "stages/device/cpu/cpu_device.h"
#include "tests/device/work.h"

namespace zerolab {
namespace {

using testing::fill;
using testing::look;
using testing::pause;

bool all_nan(const std::vector<float>& values) {
  for (const float value : values) {
    if (!std::isnan(value)) return false;
  }
  return !values.empty();
}

class PoisonTest : public ::testing::Test {
 protected:
  Buffer floats(std::int64_t count) {
    return device_->allocate(DType::kFloat32, count, Category::kWorkspace, "x", *compute_);
  }

  std::vector<float> seen_;  // outlives the streams, which may still write it
  std::unique_ptr<Device> device_ = make_cpu_device({.poison = true});
  std::unique_ptr<Stream> compute_ = device_->create_stream("compute");
  std::unique_ptr<Stream> communication_ = device_->create_stream("communication");
};

TEST_F(PoisonTest, FreshMemoryIsNan) {
  const Buffer x = floats(13);
  look(*compute_, x.view(), seen_);
  compute_->synchronize();
  EXPECT_TRUE(all_nan(seen_));
}

TEST_F(PoisonTest, ReusedMemoryIsNan) {
  Buffer x = floats(13);
  fill(*compute_, x.view(), 5);
  x.reset();
  const Buffer y = floats(13);
  look(*compute_, y.view(), seen_);
  compute_->synchronize();
  EXPECT_TRUE(all_nan(seen_));
}

TEST_F(PoisonTest, FreedMemoryTurnsNanWhenItsUsersHaveEnded) {
  Buffer x = floats(13);
  const View stale = x.view();
  fill(*compute_, stale, 5);
  look(*compute_, stale, seen_);  // launched before the free: must still see 5
  x.reset();
  compute_->synchronize();
  EXPECT_EQ(seen_, std::vector<float>(13, 5.0F));

  // Freeing another buffer makes its poisoning follow the first one's on the same stream.
  Buffer y = floats(70000);
  y.reset();
  const Buffer z = floats(70000);
  look(*compute_, stale, seen_);
  compute_->synchronize();
  EXPECT_TRUE(all_nan(seen_));
}

TEST_F(PoisonTest, DoesNotHitABlockThatAnotherStreamStillReads) {
  Buffer x = floats(1001);
  fill(*compute_, x.view(), 5);
  communication_->wait(compute_->record(), "complete");
  pause(*communication_, 5);
  look(*communication_, x.view(), seen_);
  x.reset();
  communication_->synchronize();
  EXPECT_EQ(seen_, std::vector<float>(1001, 5.0F));
}

TEST_F(PoisonTest, IntegersBecomeMinusOne) {
  const Buffer tokens = device_->allocate(DType::kInt32, 3, Category::kWorkspace, "t", *compute_);
  std::vector<std::int32_t> seen;
  compute_->launch({"look", "", {tokens.view()}, {}, [&, view = tokens.view()] {
                      seen.assign(view.as<std::int32_t>(), view.as<std::int32_t>() + 3);
                    }});
  compute_->synchronize();
  EXPECT_EQ(seen, std::vector<std::int32_t>(3, -1));
}

}  // namespace
}  // namespace zerolab
