// The whole prediction: what is around the states, peaks, scalars, and input that has no formula.
#include "experiments/predict/prediction.h"

#include <gtest/gtest.h>

#include "tests/predict/small_setting.h"

namespace zerolab {
namespace {

using test::held;
using test::volume;

// Nine units of 64 weights and 8 biases: 96 elements each, the biases on a multiple of 32.
ModelSpec narrow_tied_mlp() { return {"tied-mlp", TiedMlpConfig{8}, {}}; }

// 3 ranks, K = 2, B = 2, G = 8 held-out micro-batches.
RunConfig three_ranks() {
  RunConfig config;
  config.ranks = 3;
  config.accumulate = 2;
  config.micro_batch = 2;
  config.held_out_batches = 8;
  return config;
}

// Losses: 2 fp64 to each of 2 peers, 32 bytes. The norm: 4 and 24 bytes to each, 56 bytes.
TEST(Control, OfAStepAreTheLossesAndWhereGradientsAreShardedTheNorm) {
  const RunConfig config = three_ranks();

  const Prediction ddp = predict("ddp", config, narrow_tied_mlp(), 1);
  const Prediction zero1 = predict("zero1", config, narrow_tied_mlp(), 1);

  EXPECT_EQ(volume(ddp.per_step, Traffic::kControl, CollectiveOp::kAllGather),
            (Volume{1, 32, 0, 32, 0}));
  EXPECT_EQ(volume(zero1.per_step, Traffic::kControl, CollectiveOp::kAllGather),
            (Volume{3, 88, 0, 88, 0}));
}

// ⌈8/3⌉ = 3 micro-batches a rank: 3 fp64 to each of 2 peers.
TEST(Control, OfAnEvaluationAreTheHeldOutLosses) {
  const Prediction zero2 = predict("zero2", three_ranks(), narrow_tied_mlp(), 0);

  EXPECT_EQ(volume(zero2.per_evaluation, Traffic::kControl, CollectiveOp::kAllGather),
            (Volume{1, 48, 0, 48, 0}));
}

// Ten forward runs (layers.0 … layers.8, layers.0) of 96 elements, 2/3 of them sent: 2560 bytes;
// three micro-batches a rank.
TEST(Evaluation, GathersForwardInZero3) {
  const Prediction zero3 = predict("zero3", three_ranks(), narrow_tied_mlp(), 0);

  EXPECT_EQ(volume(zero3.per_evaluation, Traffic::kTraining, CollectiveOp::kAllGather),
            (Volume{30, 7680, 0, 7680, 0}));
}

TEST(Evaluation, CostsNothingWhenThereIsNone) {
  RunConfig config = three_ranks();
  config.evaluate_every = 0;

  EXPECT_EQ(predict("zero3", config, narrow_tied_mlp(), 0).per_evaluation, CommLedger::Table{});
}

// Two gradients of an activation (2 · 4 · B · 8 = 128) and a loss (8); inputs and targets
// (2 · 4 · 16 = 128); the norm's scalars, 28 for this rank, 28 for each of 3, and norm and factor
// (120); losses of 2 micro-batches (16 + 48); held-out losses of 3 (24 + 72).
TEST(Workspace, IsTheBatchTheScratchAndTheScalars) {
  const Prediction ddp = predict("ddp", three_ranks(), narrow_tied_mlp(), 0);

  EXPECT_EQ(held(ddp.peak_by_category, Category::kWorkspace), 136 + 128 + 120 + 64 + 96);
  EXPECT_EQ(held(ddp.peak_by_category, Category::kActivations), 10 * 2 * 8 * 4);
}

TEST(Workspace, HoldsNoHeldOutLossesWithoutEvaluation) {
  RunConfig config = three_ranks();
  config.evaluate_every = 0;

  const Prediction ddp = predict("ddp", config, narrow_tied_mlp(), 0);

  EXPECT_EQ(held(ddp.peak_by_category, Category::kWorkspace), 136 + 128 + 120 + 64);
}

// Received terms of an ordered sum wait in one slot of 256 KiB for each peer.
TEST(Staging, ExistsWhereBytesTravelAsMessages) {
  RunConfig config = three_ranks();
  const auto staging = [&] {
    return held(predict("ddp", config, narrow_tied_mlp(), 0).peak_by_category,
                Category::kCommunicationStaging);
  };

  EXPECT_EQ(staging(), 0);
  config.comm = "mpi";
  EXPECT_EQ(staging(), 2 * 256 * 1024);
}

TEST(Peaks, OfDdpAreHeldAllTheTime) {
  const Prediction ddp = predict("ddp", three_ranks(), narrow_tied_mlp(), 0);

  EXPECT_EQ(ddp.at_peak, ddp.peak_by_category);
  EXPECT_EQ(ddp.peak_moment, "");
}

// Units of 96 elements, 384 bytes. Gathered at most two; gradients at most two, the tied one and
// another. Both peaks meet first where layers.8 computes backward with layers.7 prefetched.
TEST(Peaks, OfZero3AreWhereTheTiedGradientMeetsTwoGatheredUnits) {
  const Prediction zero3 = predict("zero3", three_ranks(), narrow_tied_mlp(), 0);

  EXPECT_EQ(held(zero3.at_peak, Category::kGatheredParameters), 2 * 384);
  EXPECT_EQ(held(zero3.at_peak, Category::kUnitGradients), 2 * 384);
  EXPECT_EQ(zero3.peak_moment, "backward layers.8");
}

// An embedding larger than a block: gathered units peak in forward (embedding and block), gradients
// in backward (embedding's and block's beside two gathered blocks).
TEST(Peaks, OfTheTotalAreTakenAtOneMoment) {
  const ModelSpec model{"wide vocabulary", GptConfig{2, 32, 2, 16, 2048}, {}};

  const Prediction zero3 = predict("zero3", three_ranks(), model, 0);

  std::int64_t sum_at_peak = 0, sum_of_peaks = 0;
  for (int i = 0; i < kCategoryCount; ++i) {
    sum_at_peak += zero3.at_peak[static_cast<std::size_t>(i)];
    sum_of_peaks += zero3.peak_by_category[static_cast<std::size_t>(i)];
  }
  EXPECT_EQ(zero3.peak_bytes, sum_at_peak);
  EXPECT_LT(zero3.peak_bytes, sum_of_peaks);
}

TEST(Peaks, WithoutAStepAreWhatConstructionHolds) {
  RunConfig config = three_ranks();
  config.steps = 0;

  const Prediction zero3 = predict("zero3", config, narrow_tied_mlp(), 0);

  EXPECT_EQ(held(zero3.peak_by_category, Category::kGatheredParameters), 0);
  EXPECT_EQ(held(zero3.peak_by_category, Category::kUnitGradients), 0);
}

// ZeRO-3 gathers every block once more to compute it again, except the last of each segment, whose
// copy serves its backward too: (k−1)/k of the blocks. Each of 3 ranks sends 2/3 of a gather.
TEST(Checkpoints, MakeZero3GatherThePartOfTheBlocksThatASegmentDoesNotShare) {
  const ModelSpec model = parse_model("gpt-tiny");
  RunConfig config = three_ranks();
  config.sequence = 0;
  const std::int64_t block = 4 * round_up(layout_of(model).unit(1).size, 32 * 3);
  const auto gathered = [&](int every) {
    config.checkpoint_every = every;
    return volume(predict("zero3", config, model, 0).per_step, Traffic::kTraining,
                  CollectiveOp::kAllGather)
        .sent();
  };
  const std::int64_t without = gathered(0);
  EXPECT_EQ(gathered(1), without);
  EXPECT_EQ(gathered(2) - without, config.accumulate * 2 * block * 2 / 3);
  EXPECT_EQ(gathered(4) - without, config.accumulate * 3 * block * 2 / 3);
}

TEST(Predict, NamesTheNearestStageForAnUnknownOne) {
  try {
    predict("zero4x", three_ranks(), narrow_tied_mlp(), 0);
    FAIL() << "a formula was found";
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'zero"), std::string::npos);
  }
}

TEST(Predict, RejectsLocalAccumulationWhereNoUnreducedGradientIsKept) {
  RunConfig config = three_ranks();
  config.accumulation_order = AccumulationOrder::kLocal;

  EXPECT_NO_THROW(predict("ddp", config, narrow_tied_mlp(), 0));
  EXPECT_NO_THROW(predict("zero1", config, narrow_tied_mlp(), 0));
  EXPECT_THROW(predict("zero2", config, narrow_tied_mlp(), 0), BadInput);
  EXPECT_THROW(predict("zero3", config, narrow_tied_mlp(), 0), BadInput);
}

TEST(Predict, RejectsARankThatDoesNotExist) {
  EXPECT_THROW(predict("ddp", three_ranks(), narrow_tied_mlp(), 3), BadInput);
  EXPECT_THROW(predict("ddp", three_ranks(), narrow_tied_mlp(), -1), BadInput);
}

TEST(Predict, RejectsAnUnknownOptimizer) {
  RunConfig config = three_ranks();
  config.optimizer.name = "adagrad";

  EXPECT_THROW(predict("ddp", config, narrow_tied_mlp(), 0), BadInput);
}

}  // namespace
}  // namespace zerolab
