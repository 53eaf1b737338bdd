#include "stages/device/jitter.h"

#include <gtest/gtest.h>

#include "stages/device/cpu/cpu_device.h"
#include "tests/device/work.h"

namespace zerolab {
namespace {

std::vector<std::int64_t> delays(std::uint64_t seed, int rank, int stream_id) {
  const Jitter jitter(seed, rank);
  std::vector<std::int64_t> all;
  for (std::uint64_t i = 0; i < 200; ++i) all.push_back(jitter.delay(stream_id, i).count());
  return all;
}

TEST(JitterTest, DelaysFollowFromTheSeed) { EXPECT_EQ(delays(5, 1, 0), delays(5, 1, 0)); }

TEST(JitterTest, DelaysDifferBetweenSeedsRanksAndStreams) {
  EXPECT_NE(delays(5, 1, 0), delays(6, 1, 0));
  EXPECT_NE(delays(5, 1, 0), delays(5, 2, 0));
  EXPECT_NE(delays(5, 1, 0), delays(5, 1, 1));
}

TEST(JitterTest, DelaysStayBelowTheLongestAndSomeAreZero) {
  int zeros = 0;
  std::int64_t longest = 0;
  for (const std::int64_t delay : delays(1, 0, 0)) {
    EXPECT_GE(delay, 0);
    EXPECT_LE(delay, 200);
    zeros += delay == 0 ? 1 : 0;
    longest = std::max(longest, delay);
  }
  EXPECT_GT(zeros, 100);
  EXPECT_GT(longest, 100);
}

TEST(JitterTest, DoesNotChangeWhatOrderedStreamsCompute) {
  std::vector<float> seen;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Jitter jitter(seed, 0, std::chrono::microseconds(50));
    const auto device = make_cpu_device({.observers = {&jitter}});
    const auto compute = device->create_stream("compute");
    const auto communication = device->create_stream("communication");
    const Buffer x = device->allocate(DType::kFloat32, 5, Category::kWorkspace, "x", *compute);
    testing::fill(*compute, x.view(), 0);
    for (int i = 0; i < 20; ++i) {
      testing::add_one(*compute, x.view(), x.view());
      communication->wait(compute->record(), "x complete");
      testing::add_one(*communication, x.view(), x.view());
      compute->wait(communication->record(), "x complete");
    }
    testing::look(*compute, x.view(), seen);
    compute->synchronize();
    EXPECT_EQ(seen, std::vector<float>(5, 40.0F)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace zerolab
