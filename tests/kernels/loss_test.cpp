// Cross entropy and squared error against fp64 and finite differences.
#include <gtest/gtest.h>

#include <limits>

#include "tests/kernels/kernel_bench.h"
#include "tests/kernels/reference.h"

namespace zerolab::testing_kernels {
namespace {

struct Size {
  std::int64_t rows, V;
};

class CrossEntropyTest : public ::testing::TestWithParam<Size> {
 protected:
  CrossEntropyTest() {
    if (rows_ > 1) targets_[1] = -1;  // ignored
  }
  const std::int64_t rows_ = GetParam().rows, V_ = GetParam().V;
  const std::vector<float> logits_ = numbers(rows_ * V_, 1, 4.0F);
  std::vector<std::int32_t> targets_ = tokens(rows_, 2, static_cast<std::int32_t>(V_));
  KernelBench bench_;

  double run(const Buffer& logits, float scale, bool gradient) {
    const Buffer targets = bench_.put(targets_), loss = bench_.empty(1, DType::kFloat64);
    bench_.kernels().cross_entropy(bench_.stream(), logits.view(), targets.view(), loss.view(),
                                   rows_, V_, scale, gradient);
    return bench_.get<double>(loss)[0];
  }
};

TEST_P(CrossEntropyTest, SumsTheRowLossesAndLeavesTheLogitsAlone) {
  const Buffer logits = bench_.put(logits_);

  const double loss = run(logits, 1.0F, false);

  const double expected = reference::cross_entropy(widened(logits_), targets_, V_);
  EXPECT_NEAR(loss, expected, 2e-6 * (1.0 + expected));
  EXPECT_EQ(bench_.get(logits), logits_);
}

TEST_P(CrossEntropyTest, TheGradientIsTheScaledSlope) {
  const Buffer logits = bench_.put(logits_);

  const double loss = run(logits, 0.25F, true);

  EXPECT_EQ(loss, run(bench_.put(logits_), 1.0F, false));
  const auto slopes = central_differences(widened(logits_), [&](const auto& v) {
    return 0.25 * reference::cross_entropy(v, targets_, V_);
  });
  EXPECT_LT(worst_error(bench_.get(logits), slopes), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(OddSizes, CrossEntropyTest,
                         ::testing::Values(Size{5, 7}, Size{1, 2}, Size{19, 33}, Size{2, 64}),
                         [](const auto& chosen) {
                           return fmt::format("rows{}V{}", chosen.param.rows, chosen.param.V);
                         });

double loss_of(const std::vector<float>& logits, std::int32_t target) {
  KernelBench bench;
  const Buffer x = bench.put(logits), targets = bench.put(std::vector<std::int32_t>{target}),
               loss = bench.empty(1, DType::kFloat64);
  bench.kernels().cross_entropy(bench.stream(), x.view(), targets.view(), loss.view(), 1, x.count(),
                                1.0F, false);
  return bench.get<double>(loss)[0];
}

TEST(CrossEntropy, LargeLogitsDoNotOverflow) {
  EXPECT_NEAR(loss_of({1e4F, 0.0F, -1e4F}, 0), 0.0, 1e-12);
  EXPECT_NEAR(loss_of({1e4F, 0.0F, -1e4F}, 2), 2e4, 1e-8);
}

TEST(CrossEntropy, ANanLogitGivesANanLossWhereverItStands) {
  for (std::size_t at = 0; at < 21; ++at) {
    std::vector<float> logits = numbers(21, 1);
    logits[at] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(loss_of(logits, 3))) << "NaN at " << at;
  }
}

TEST(CrossEntropy, ATargetOutsideTheVocabularyIsAFailure) {
  try {
    loss_of({0.0F, 1.0F, 2.0F}, 3);
    FAIL() << "target 3 of 3 was accepted";
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("target 3 was found, targets below 3"),
              std::string::npos);
  }
}

TEST(SquaredError, SumsTheSquaresAndGivesTheScaledSlope) {
  KernelBench bench;
  const auto prediction = numbers(4101, 1), target = numbers(4101, 2);  // more than one block
  const Buffer p = bench.put(prediction), t = bench.put(target), d = bench.empty(4101),
               loss = bench.empty(1, DType::kFloat64);

  bench.kernels().squared_error(bench.stream(), p.view(), t.view(), d.view(), loss.view(), 0.5F);

  double expected = 0.0;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < prediction.size(); ++i) {
    const double difference = static_cast<double>(prediction[i]) - static_cast<double>(target[i]);
    expected += difference * difference;
    slopes.push_back(difference);  // 2 · 0.5 · difference
  }
  EXPECT_NEAR(bench.get<double>(loss)[0], expected, 1e-6 * expected);
  EXPECT_LT(worst_error(bench.get(d), slopes), 1e-6);
}

TEST(SquaredError, WithoutAGradientOnlyTheLossIsWritten) {
  KernelBench bench;
  const Buffer p = bench.put(std::vector<float>{1.0F, 2.0F}),
               t = bench.put(std::vector<float>{0.0F, 4.0F}),
               loss = bench.empty(1, DType::kFloat64);

  bench.kernels().squared_error(bench.stream(), p.view(), t.view(), {}, loss.view(), 1.0F);

  EXPECT_EQ(bench.get<double>(loss)[0], 5.0);
}

}  // namespace
}  // namespace zerolab::testing_kernels
