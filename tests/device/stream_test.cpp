#include <gtest/gtest.h>

#include "stages/device/cpu/cpu_device.h"

namespace zerolab {
namespace {

TEST(Stream, RunsWorkInTheOrderOfLaunches) {
  const auto device = make_cpu_device();
  const auto stream = device->create_stream("compute");
  std::vector<int> seen;

  for (int i = 0; i < 1000; ++i) stream->launch({"append", "", {}, {}, [&, i] { seen.push_back(i); }});
  stream->synchronize();

  ASSERT_EQ(seen.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace zerolab
