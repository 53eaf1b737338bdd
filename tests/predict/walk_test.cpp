// Which copies and gradients are alive at each use, worked out by hand.
#include "experiments/predict/walk.h"

#include <gmock/gmock.h>

#include "stages/device/cpu/cpu_device.h"
#include "stages/kernels/cpu/cpu_kernels.h"
#include "tests/predict/small_setting.h"

namespace zerolab {
namespace {

using testing::ElementsAre;

// Units 0, 1 and 2 of 1, 10 and 100 elements, so that a sum tells which are alive.
const std::vector<std::int64_t> kLengths = {1, 10, 100};
const std::vector<std::int64_t> kNothing = {0, 0, 0};

Use reading(UnitId unit) { return {.unit = unit}; }
Use backward(UnitId unit, bool completes = true) {
  return {unit, Phase::kBackward, true, completes};
}

std::vector<std::int64_t> computing(const std::vector<GradientsAt>& gradients) {
  std::vector<std::int64_t> elements;
  for (const GradientsAt& at : gradients) elements.push_back(at.computing);
  return elements;
}

// Uses: 2 1 0 2 | 2 0 1 2. The head's forward and backward share one copy of unit 2, the last use
// reads nothing.
TEST(ReadingRuns, JoinConsecutiveUsesOfOneUnit) {
  const std::vector<ReadingRun> runs = reading_runs(test::tied_uses().training);

  std::vector<UnitId> units;
  for (const ReadingRun& run : runs) units.push_back(run.unit);
  EXPECT_THAT(units, ElementsAre(2, 1, 0, 2, 0, 1));
  EXPECT_EQ(runs[3].first, 3U);
  EXPECT_EQ(runs[3].last, 4U);
}

TEST(ReadingRuns, AreSeparatedByAUseThatReadsNothing) {
  Use blind = reading(1);
  blind.reads_parameters = false;
  EXPECT_EQ(reading_runs(std::vector{reading(1), blind, reading(1)}).size(), 2U);
}

TEST(Gathered, IsTheUnitInUseWithoutOverlap) {
  EXPECT_THAT(gathered_by_use(test::tied_uses().training, kLengths, false),
              ElementsAre(100, 10, 1, 100, 100, 1, 10, 0));
}

// Each copy arrives one run early: unit 0 for its backward during both uses of unit 2.
TEST(Gathered, IsTheUnitInUseAndTheNextOneWithOverlap) {
  EXPECT_THAT(gathered_by_use(test::tied_uses().training, kLengths, true),
              ElementsAre(110, 11, 101, 101, 101, 11, 10, 0));
}

TEST(Gathered, IsOneUnitWhereOnlyOneIsUsed) {
  EXPECT_THAT(gathered_by_use(std::vector{reading(1), reading(1)}, kLengths, true),
              ElementsAre(10, 10));
}

// The tied unit 2 lives from its first backward use (index 4) to the end.
TEST(UnitGradients, OfTheTiedUnitLiveThroughTheBackwardPass) {
  const auto gradients = gradients_by_use(test::tied_uses().training, kLengths, kNothing);

  EXPECT_THAT(computing(gradients), ElementsAre(0, 0, 0, 0, 100, 101, 110, 100));
}

TEST(UnitGradients, ThatCompleteEarlyLiveUntilTheirTurn) {
  const std::vector<Use> uses = {backward(2), backward(0), backward(1)};

  const auto gradients = gradients_by_use(uses, kLengths, kNothing);

  // Unit 2 waits for 0 and 1; unit 0 is handed on at once.
  EXPECT_THAT(computing(gradients), ElementsAre(100, 101, 110));
}

// Unit 1 is nowhere: its turn comes with unit 0, after unit 0 has been freed, while unit 2 waits.
TEST(UnitGradients, OfAnAbsentUnitExistForItsTurnOnly) {
  const std::vector<Use> uses = {backward(2), backward(0)};

  const auto gradients = gradients_by_use(uses, kLengths, kLengths);

  EXPECT_THAT(computing(gradients), ElementsAre(100, 101));
  EXPECT_EQ(gradients[1].handing_on, 110);
}

// Unit 0 is nowhere and comes first in turn: it exists beside unit 1.
TEST(UnitGradients, OfAnAbsentFirstUnitExistBesideTheOneThatCompletes) {
  const auto gradients =
      gradients_by_use(std::vector{backward(1), backward(2)}, kLengths, kLengths);

  EXPECT_EQ(gradients[0].computing, 10);
  EXPECT_EQ(gradients[0].handing_on, 11);
  EXPECT_EQ(gradients[1].handing_on, 100);
}

bool same(const Use& a, const Use& b) {
  return a.unit == b.unit && a.phase == b.phase && a.reads_parameters == b.reads_parameters &&
         a.completes_gradient == b.completes_gradient;
}

TEST(ModelUses, FollowFromTheArchitectureAsTheModelsDeclareThem) {
  for (const char* name : {"gpt-micro", "gpt-tiny", "tied-mlp"}) {
    const ModelSpec spec = parse_model(name);
    const auto kernels = make_cpu_kernels(1);
    const auto device = make_cpu_device();
    const auto compute = device->create_stream("compute");
    const auto model = make_model(spec, *device, *compute, *kernels, 1, 8);

    const ModelUses uses = uses_of(spec);

    EXPECT_TRUE(std::ranges::equal(uses.training, model->training_uses(), same)) << name;
    EXPECT_TRUE(std::ranges::equal(uses.evaluation, model->evaluation_uses(), same)) << name;
  }
}

TEST(ModelUses, FollowFromTheSegmentsWithCheckpointsAndFromTheBlockThatIsBypassed) {
  const ModelSpec spec = parse_model("gpt-tiny");
  const auto kernels = make_cpu_kernels(1);
  const auto device = make_cpu_device();
  const auto compute = device->create_stream("compute");
  for (const int every : {1, 2, 3, 4, 7}) {
    const auto model = make_model(spec, *device, *compute, *kernels, 1, 8,
                                  {.checkpoint_every = every, .skip_block_every = 1});
    const std::vector<Use> uses = uses_of(spec, every).training;
    for (int block = 0; block < 4; ++block) {
      EXPECT_TRUE(std::ranges::equal(without(uses, unit_of_block(spec, block)),
                                     model->training_uses(block), same))
          << "segments of " << every << ", without block " << block;
    }
  }
}

}  // namespace
}  // namespace zerolab
