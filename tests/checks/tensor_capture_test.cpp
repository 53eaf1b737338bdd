// From an unequal fingerprint to the element.
#include "experiments/checks/tensor_capture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "experiments/runner/results.h"
#include "tests/checks/rig.h"
#include "zero3/zero3.h"

namespace zerolab::test {
namespace {

CapturedTensor capture(const RunConfig& config, StageRun run, const CaptureMoment& moment) {
  CapturedTensor captured;
  run.observers = [&](const CheckContext& context) {
    std::vector<std::unique_ptr<TrainObserver>> observers;
    observers.push_back(std::make_unique<TensorCapture>(context, moment, 0, captured));
    return observers;
  };
  train(config, run);
  return captured;
}

/// Overwrites two parameters of rank 1 after its second update.
class DriftingZero3 final : public Zero3 {
 public:
  using Zero3::Zero3;

 protected:
  void update_owned(View factor, const StepSettings& settings) override {
    Zero3::update_owned(factor, settings);
    if (settings.step == 2 && rank() == 1) {
      parts_.kernels.fill(parts_.compute, parameters_.slice(partition_.in_shard(1).begin + 200, 2),
                          0.125F);
    }
  }
};

class TensorCaptureTest : public testing::TestWithParam<const char*> {};

TEST_P(TensorCaptureTest, OfAnyStageHoldsTheWholeTensorAtEveryPhase) {
  for (const Shape shape : {Shape{1, 1}, Shape{3, 1}, Shape{2, 3}}) {
    RunConfig config = micro_config(shape.ranks, shape.accumulate);
    config.checks = {};
    const ParameterLayout layout = layout_of(config);
    for (const char* phase : kFingerprintPhases) {
      const CaptureMoment moment{2, phase, layout.tensor_named("h.0.mlp.c_fc.weight")};
      const CapturedTensor reference = capture(config, stage_run("ddp"), moment);
      const CapturedTensor captured = capture(config, stage_run(GetParam()), moment);
      std::int64_t elements = 0;
      for (const auto& part : captured.parts) {
        elements += static_cast<std::int64_t>(part.values.size());
      }
      const std::int64_t states = std::string(phase) == "optimizer_state" ? 2 : 1;
      EXPECT_EQ(elements, states * layout.tensor(moment.tensor).count()) << phase;
      EXPECT_FALSE(locate_difference(reference, captured, moment, layout)) << phase;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, TensorCaptureTest,
                         testing::Values("ddp", "zero1", "zero2", "zero3"),
                         [](const auto& stage) { return std::string(stage.param); });

TEST(LocateDifference, NamesElementOwnerValuesAndCount) {
  RunConfig config = micro_config(3);
  config.checks = {};
  const ParameterLayout layout = layout_of(config);
  // Where the 200th element of rank 1's slice of unit 1 belongs.
  const Partition cut = Partition::by_unit(layout, 3);
  CaptureMoment moment{2, "parameters", -1};
  std::int64_t element = -1;
  for (const Segment& s : cut.segments(cut.slice(1, 1))) {
    if (s.flat_begin > 200 || 200 >= s.flat_begin + s.count) continue;
    moment.tensor = s.tensor;
    element = s.tensor_begin + 200 - s.flat_begin;
  }
  ASSERT_GE(moment.tensor, 0);

  const auto found =
      locate_difference(capture(config, stage_run("ddp"), moment),
                        capture(config, run_of<DriftingZero3>("zero3"), moment), moment, layout);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->step, 2);
  EXPECT_EQ(found->phase, "parameters");
  EXPECT_EQ(found->tensor, layout.tensor(moment.tensor).name);
  EXPECT_EQ(found->element, element);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->value, 0.125F);
  EXPECT_NE(found->reference_value, 0.125F);
  EXPECT_GT(found->ulp, 0);
  EXPECT_EQ(found->differing_elements, 2);
  EXPECT_NE(found->sentence.find("owned by rank 1"), std::string::npos) << found->sentence;
}

CapturedTensor captured(std::vector<float> values) {
  CapturedTensor tensor;
  tensor.parts.push_back({0, Category::kGradients, 0, std::move(values)});
  return tensor;
}

ParameterLayout four_elements() {
  ParameterLayout layout;
  layout.add_unit("unit", {{"tensor", {4}, Init::kZeros, 0, false}});
  return layout;
}

TEST(LocateDifference, ComparesBitsNotValues) {
  const CaptureMoment moment{1, "gradients", 0};
  const auto zero_signs = locate_difference(captured({1, 0.0F, 2, 3}), captured({1, -0.0F, 2, 3}),
                                            moment, four_elements());
  ASSERT_TRUE(zero_signs);
  EXPECT_EQ(zero_signs->element, 1);
  EXPECT_EQ(zero_signs->ulp, 0);
}

TEST(LocateDifference, GivesNanNoDistance) {
  const CaptureMoment moment{1, "gradients", 0};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto found =
      locate_difference(captured({1, 2, 3, 4}), captured({1, 2, nan, 4}), moment, four_elements());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->element, 2);
  EXPECT_EQ(found->ulp, -1);
}

TEST(LocateDifference, TakesElementsThatNobodyHoldsForDifferent) {
  const CaptureMoment moment{1, "gradients", 0};
  const auto found =
      locate_difference(captured({1, 2, 3, 4}), captured({1, 2, 3}), moment, four_elements());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->element, 3);
  EXPECT_EQ(found->rank, -1);
  EXPECT_FALSE(
      locate_difference(captured({1, 2, 3, 4}), captured({1, 2, 3, 4}), moment, four_elements()));
}

}  // namespace
}  // namespace zerolab::test
