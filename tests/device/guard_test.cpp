#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

#include "stages/device/cpu/cpu_device.h"
#include "tests/device/work.h"

namespace zerolab {
namespace {

using testing::add_one;
using ::testing::ExitedWithCode;
using testing::fill;
using testing::look;

constexpr int kFailure = 3;

class GuardTest : public ::testing::Test {
 protected:
  GuardTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  Buffer floats(std::int64_t count, const char* name) {
    return device_->allocate(DType::kFloat32, count, Category::kGradients, name, *compute_);
  }

  std::unique_ptr<Device> device_ = make_cpu_device({.guarded = true});
  std::unique_ptr<Stream> compute_ = device_->create_stream("compute");
  std::unique_ptr<Stream> communication_ = device_->create_stream("communication");
};
using GuardDeathTest = GuardTest;

TEST_F(GuardTest, OpensWhatAnOperationDeclares) {
  const Buffer x = floats(1001, "x");
  const Buffer y = floats(1001, "y");
  std::vector<float> seen;
  fill(*compute_, x.view(), 2);
  add_one(*compute_, x.view(), y.view());
  look(*compute_, y.view(), seen);
  compute_->synchronize();
  EXPECT_EQ(seen, std::vector<float>(1001, 3.0F));
}

TEST_F(GuardTest, OpensSlicesThatShareAPageToSeveralStreamsAtOnce) {
  const Buffer x = floats(3000, "x");
  fill(*compute_, x.view(), 0);
  communication_->wait(compute_->record(), "x complete");
  for (int i = 0; i < 200; ++i) {
    add_one(*compute_, x.slice(0, 1500), x.slice(0, 1500));
    add_one(*communication_, x.slice(1500, 1500), x.slice(1500, 1500));
  }
  compute_->wait(communication_->record(), "second half complete");
  std::vector<float> seen;
  look(*compute_, x.view(), seen);
  compute_->synchronize();
  EXPECT_EQ(seen, std::vector<float>(3000, 200.0F));
}

TEST_F(GuardTest, OneReaderEndingDoesNotCloseThePageForAnother) {
  const Buffer x = floats(10, "x");
  fill(*compute_, x.view(), 4);
  communication_->wait(compute_->record(), "x complete");
  std::atomic<bool> released = false;
  float late = 0;
  communication_->launch({"slow reader", "", {x.view()}, {}, [&, view = x.view()] {
                            while (!released) std::this_thread::yield();
                            late = view.as<float>()[9];
                          }});
  std::vector<float> seen;
  look(*compute_, x.view(), seen);
  compute_->synchronize();
  released = true;
  communication_->synchronize();
  EXPECT_EQ(late, 4.0F);
}

TEST_F(GuardTest, ReusesBlocksOfOtherLengths) {
  for (const std::int64_t count : {1000, 7, 1024, 500, 1023}) {
    const Buffer x = floats(count, "x");
    std::vector<float> seen;
    fill(*compute_, x.view(), 1);
    look(*compute_, x.view(), seen);
    compute_->synchronize();
    EXPECT_EQ(seen, std::vector<float>(static_cast<std::size_t>(count), 1.0F));
  }
}

TEST_F(GuardTest, ThrowingOperationClosesItsPages) {
  const Buffer x = floats(10, "x");
  compute_->launch({"throw", "", {}, {x.view()}, [] { throw std::runtime_error("expected"); }});
  EXPECT_THROW(compute_->synchronize(), std::runtime_error);
  EXPECT_EXIT(x.view().as<float>()[0] = 1, ExitedWithCode(kFailure), "outside stream work");
}

TEST_F(GuardTest, WorksTogetherWithPoison) {
  const auto device = make_cpu_device({.poison = true, .guarded = true});
  const auto stream = device->create_stream("compute");
  for (int i = 0; i < 5; ++i) {
    const Buffer x = device->allocate(DType::kFloat32, 99, Category::kWorkspace, "x", *stream);
    fill(*stream, x.view(), 1);
  }
  stream->synchronize();
}

TEST_F(GuardTest, RanksThatAreThreadsHaveGuardsOfTheirOwn) {
  std::array<float, 3> last{};
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < last.size(); ++rank) {
    ranks.emplace_back([&, rank] {
      const auto device = make_cpu_device({.guarded = true});
      const auto stream = device->create_stream("compute");
      std::vector<float> seen;
      for (int i = 0; i < 50; ++i) {
        const Buffer x = device->allocate(DType::kFloat32, 99, Category::kWorkspace, "x", *stream);
        fill(*stream, x.view(), static_cast<float>(rank));
        add_one(*stream, x.view(), x.view());
        look(*stream, x.view(), seen);
      }
      stream->synchronize();
      last[rank] = seen[98];
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(last, (std::array<float, 3>{1, 2, 3}));
}

TEST_F(GuardDeathTest, UndeclaredReadNamesOperationStreamBufferAndElement) {
  const Buffer gradients = floats(3000, "gradients h.2");
  compute_->launch({"zero", "", {}, {gradients.view()}, [] {}});
  const auto violate = [&] {
    volatile float seen = 0;
    compute_->launch({"adamw", "unit h.2", {}, {}, [&, view = gradients.view()] {
                        seen = view.as<float>()[1017];
                      }});
    compute_->synchronize();
  };
  EXPECT_EXIT(violate(), ExitedWithCode(kFailure),
              "\\[guard\\] adamw \\(unit h.2\\) on stream 'compute' reads element 1017 of "
              "'gradients h.2' \\(fp32, 3000 elements\\), which it does not declare");
}

TEST_F(GuardDeathTest, WritingWhatIsDeclaredAsReadIsCaught) {
  const Buffer x = floats(100, "x");
  const auto violate = [&] {
    compute_->launch({"scale", "", {x.view()}, {}, [view = x.view()] { view.as<float>()[7] = 1; }});
    compute_->synchronize();
  };
  EXPECT_EXIT(violate(), ExitedWithCode(kFailure), "writes element 7 of 'x'");
}

TEST_F(GuardDeathTest, DeclaringASliceDoesNotOpenPagesOutsideIt) {
  const Buffer x = floats(100000, "x");
  const auto violate = [&] {
    compute_->launch(
        {"fill", "", {}, {x.slice(0, 5000)}, [view = x.view()] { view.as<float>()[50000] = 1; }});
    compute_->synchronize();
  };
  EXPECT_EXIT(violate(), ExitedWithCode(kFailure), "writes element 50000 of 'x'");
}

TEST_F(GuardDeathTest, RunningPastTheEndIsCaught) {
  const Buffer x = floats(1024, "x");
  const auto violate = [&] {
    compute_->launch({"fill", "", {}, {x.view()}, [view = x.view()] {
                        for (int i = 0; i <= 1024; ++i) view.as<float>()[i] = 1;
                      }});
    compute_->synchronize();
  };
  EXPECT_EXIT(violate(), ExitedWithCode(kFailure), "writes element 1024 of 'x'");
}

TEST_F(GuardDeathTest, TouchingFreedMemoryIsCaught) {
  Buffer x = floats(100, "x");
  const View stale = x.view();
  x.reset();
  const auto violate = [&] {
    compute_->launch({"late", "", {}, {}, [stale] { stale.as<float>()[3] = 1; }});
    compute_->synchronize();
  };
  EXPECT_EXIT(violate(), ExitedWithCode(kFailure), "writes element 3 of the freed 'x'");
}

TEST_F(GuardDeathTest, HostMayNotTouchDeviceMemory) {
  const Buffer x = floats(100, "x");
  EXPECT_EXIT(std::memset(x.view().data, 0, 4), ExitedWithCode(kFailure),
              "a thread outside stream work");
}

TEST_F(GuardDeathTest, SeveralGuardedDevicesLiveSideBySide) {
  const Buffer x = floats(100, "x");
  const auto other = make_cpu_device({.guarded = true});
  const auto stream = other->create_stream("other compute");
  const Buffer y = other->allocate(DType::kFloat64, 100, Category::kGradients, "y", *stream);
  { const auto gone = make_cpu_device({.guarded = true}); }
  const auto violate = [&] {
    stream->launch({"add", "", {x.view()}, {}, [view = y.view()] { view.as<double>()[5] = 1; }});
    stream->synchronize();
  };
  EXPECT_EXIT(violate(), ExitedWithCode(kFailure), "'other compute' writes element 5 of 'y'");
}

}  // namespace
}  // namespace zerolab
