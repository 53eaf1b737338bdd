// Bytes of model states and traffic of each stage on a layout small enough to work out by hand:
// units of 64, 64 and 96 elements (224), buckets of 100 elements, AdamW.
#include <gmock/gmock.h>

#include "experiments/predict/stage_prediction.h"
#include "tests/predict/small_setting.h"

namespace zerolab {
namespace {

using test::accumulating;
using test::held;
using test::small_setting;
using test::trained;
using testing::ElementsAre;

std::vector<std::int64_t> over_time(const std::vector<Moment>& moments, Category category) {
  std::vector<std::int64_t> bytes;
  for (const Moment& moment : moments) bytes.push_back(held(moment.bytes, category));
  return bytes;
}

std::int64_t sent(const CommLedger::Table& table) {
  std::int64_t sum = 0;
  for (const Volume& volume : table[static_cast<std::size_t>(Traffic::kTraining)]) {
    sum += volume.sent();
  }
  return sum;
}

// ---- 2 ranks. 32·N = 64: Φ = 256 elements in buckets of 128 and 128; units 64, 64 and 128. -----

// 256 elements of 4 bytes everywhere.
TEST(TwoRanks, DdpHoldsEveryStateInFull) {
  const StagePrediction ddp = predict_ddp(small_setting(2, 0));

  for (const Category state : {Category::kParameters, Category::kGradients, Category::kFirstMoments,
                               Category::kSecondMoments}) {
    EXPECT_EQ(held(ddp.lasting, state), 1024);
  }
  EXPECT_EQ(held(ddp.lasting, Category::kAccumulators), 0);
}

// A bucket's all-reduce sends 64 elements to the owner of the other half and 64 of the own half
// back: 512 bytes. Twice.
TEST(TwoRanks, DdpSendsEveryBucketTwiceMinusTheOwnShare) {
  const StagePrediction ddp = predict_ddp(small_setting(2, 0));

  EXPECT_EQ(trained(ddp.per_step, CollectiveOp::kAllReduce), (Volume{2, 1024, 0, 1024, 0}));
  EXPECT_EQ(sent(ddp.per_step), 1024);
}

TEST(TwoRanks, Zero1HoldsHalfOfTheOptimizerStates) {
  const StagePrediction zero1 = predict_zero1(small_setting(2, 1));

  EXPECT_EQ(held(zero1.lasting, Category::kParameters), 1024);
  EXPECT_EQ(held(zero1.lasting, Category::kGradients), 1024);
  EXPECT_EQ(held(zero1.lasting, Category::kFirstMoments), 512);
  EXPECT_EQ(held(zero1.lasting, Category::kSecondMoments), 512);
}

// Each bucket: 64 elements out in the reduce-scatter, 64 in the all-gather.
TEST(TwoRanks, Zero1SplitsTheAllReduceInTwo) {
  const StagePrediction zero1 = predict_zero1(small_setting(2, 1));

  EXPECT_EQ(trained(zero1.per_step, CollectiveOp::kReduceScatter), (Volume{2, 512, 0, 512, 0}));
  EXPECT_EQ(trained(zero1.per_step, CollectiveOp::kAllGather), (Volume{2, 512, 0, 512, 0}));
  EXPECT_EQ(trained(zero1.per_step, CollectiveOp::kAllReduce), Volume{});
}

TEST(TwoRanks, Zero2HoldsHalfOfTheGradientsToo) {
  const StagePrediction zero2 = predict_zero2(small_setting(2, 0));

  EXPECT_EQ(held(zero2.lasting, Category::kParameters), 1024);
  EXPECT_EQ(held(zero2.lasting, Category::kGradients), 512);
  EXPECT_EQ(held(zero2.lasting, Category::kFirstMoments), 512);
}

// The largest bucket has 128 elements.
TEST(TwoRanks, Zero2HoldsTwoBucketsWithOverlapAndOneWithout) {
  Setting setting = small_setting(2, 0);
  EXPECT_EQ(held(predict_zero2(setting).lasting, Category::kGradientBuckets), 1024);
  setting.overlap = false;
  EXPECT_EQ(held(predict_zero2(setting).lasting, Category::kGradientBuckets), 512);
}

// Unpadded: the base's 96 elements from the first backward use on, one more unit of 64 beside it.
TEST(TwoRanks, Zero2HoldsTheTiedGradientAndOneUnitBesideIt) {
  const StagePrediction zero2 = predict_zero2(small_setting(2, 0));

  EXPECT_THAT(over_time(zero2.training, Category::kUnitGradients),
              ElementsAre(0, 0, 0, 0, 384, 640, 640, 384));
  EXPECT_EQ(zero2.training[5].name, "backward head");
}

TEST(TwoRanks, Zero3HoldsHalfOfEverything) {
  const StagePrediction zero3 = predict_zero3(small_setting(2, 0));

  for (const Category state : {Category::kParameters, Category::kGradients, Category::kFirstMoments,
                               Category::kSecondMoments}) {
    EXPECT_EQ(held(zero3.lasting, state), 512);
  }
  EXPECT_EQ(held(zero3.lasting, Category::kGradientBuckets), 0);
}

// Every use gives two moments, computing and handing on. Padded, in bytes: base 512, others 256.
// With overlap the next unit is there too: base + middle, middle + head, head + base, base + head
// (twice), head + middle, middle, nothing.
TEST(TwoRanks, Zero3GathersTheUnitInUseAndTheNextOne) {
  Setting setting = small_setting(2, 0);
  EXPECT_THAT(
      over_time(predict_zero3(setting).training, Category::kGatheredParameters),
      ElementsAre(768, 768, 512, 512, 768, 768, 768, 768, 768, 768, 512, 512, 256, 256, 0, 0));
  setting.overlap = false;
  EXPECT_THAT(
      over_time(predict_zero3(setting).training, Category::kGatheredParameters),
      ElementsAre(512, 512, 256, 256, 256, 256, 512, 512, 512, 512, 256, 256, 256, 256, 0, 0));
}

TEST(TwoRanks, Zero3HoldsPaddedUnitGradients) {
  const StagePrediction zero3 = predict_zero3(small_setting(2, 0));

  EXPECT_THAT(over_time(zero3.training, Category::kUnitGradients),
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 512, 512, 768, 768, 768, 768, 512, 512));
}

// Six gathers: base, middle, head, base, head, middle: 128+64+64+128+64+64 = 512 elements, half of
// them sent, 1024 bytes. Three reduce-scatters of 256 elements in all, 512 bytes.
// Together 384 elements = 3 · (N−1)/N · 256.
TEST(TwoRanks, Zero3SendsThreeTimesTheModel) {
  const StagePrediction zero3 = predict_zero3(small_setting(2, 0));

  EXPECT_EQ(trained(zero3.per_step, CollectiveOp::kAllGather), (Volume{6, 1024, 0, 1024, 0}));
  EXPECT_EQ(trained(zero3.per_step, CollectiveOp::kReduceScatter), (Volume{3, 512, 0, 512, 0}));
}

// base, middle, head, base: 384 elements, half of them sent.
TEST(TwoRanks, Zero3GathersForwardInAHeldOutMicroBatchToo) {
  const StagePrediction zero3 = predict_zero3(small_setting(2, 0));

  EXPECT_EQ(trained(zero3.per_held_out, CollectiveOp::kAllGather), (Volume{4, 768, 0, 768, 0}));
  EXPECT_EQ(trained(predict_zero2(small_setting(2, 0)).per_held_out, CollectiveOp::kAllGather),
            Volume{});
}

// ---- 3 ranks. 32·N = 96: Φ = 288 elements in buckets of 192 and 96; units 96, 96 and 96. --------

// A bucket of 192 is three slices of 64: 128 elements out, 128 back; a bucket of 96 half of that:
// 384 elements = 2 · (N−1)/N · 288.
TEST(ThreeRanks, DdpSendsTwoThirdsOfTheModelTwice) {
  const StagePrediction ddp = predict_ddp(small_setting(3, 1));

  EXPECT_EQ(trained(ddp.per_step, CollectiveOp::kAllReduce), (Volume{2, 1536, 0, 1536, 0}));
  EXPECT_EQ(held(ddp.lasting, Category::kParameters), 1152);
}

// Ranks 0 and 1 share a node: rank 1 exchanges half of its bytes with rank 0, half with rank 2.
TEST(ThreeRanks, BytesInsideAndAcrossNodesAreToldApart) {
  Setting setting = small_setting(3, 1);
  setting.group = world_shape(3, 2, WireKind::kPeerView, Reduction::kOrdered);

  EXPECT_EQ(trained(predict_ddp(setting).per_step, CollectiveOp::kAllReduce),
            (Volume{2, 768, 768, 768, 768}));
}

// A ring sends everything to the right neighbour: rank 1 to rank 2 on the other node.
TEST(ThreeRanks, ARingCrossesTheNodeWhereItsNeighbourDoes) {
  Setting setting = small_setting(3, 1);
  setting.group = world_shape(3, 2, WireKind::kPeerView, Reduction::kRing);

  EXPECT_EQ(trained(predict_ddp(setting).per_step, CollectiveOp::kAllReduce),
            (Volume{2, 0, 1536, 1536, 0}));
}

TEST(ThreeRanks, OneMicroBatchCostsTheSameInDdpZero1AndZero2) {
  const Setting setting = small_setting(3, 2);

  EXPECT_EQ(sent(predict_ddp(setting).per_step), 1536);
  EXPECT_EQ(sent(predict_zero1(setting).per_step), 1536);
  EXPECT_EQ(sent(predict_zero2(setting).per_step), 1536);
  EXPECT_EQ(sent(predict_zero3(setting).per_step), 3 * 768);
}

// A pass over 288 elements sends 192 of them, 768 bytes. K = 3:
//   DDP 3·2, ZeRO-1 and ZeRO-2 3 + 1, ZeRO-3 3·3 passes.
TEST(ThreeRanks, ReducingEveryMicroBatchRepeatsTheReductions) {
  const Setting setting = accumulating(small_setting(3, 0), 3);

  EXPECT_EQ(sent(predict_ddp(setting).per_step), 6 * 768);
  EXPECT_EQ(trained(predict_zero1(setting).per_step, CollectiveOp::kReduceScatter),
            (Volume{6, 3 * 768, 0, 3 * 768, 0}));
  EXPECT_EQ(trained(predict_zero1(setting).per_step, CollectiveOp::kAllGather),
            (Volume{2, 768, 0, 768, 0}));
  EXPECT_EQ(sent(predict_zero2(setting).per_step), 4 * 768);
  EXPECT_EQ(trained(predict_zero3(setting).per_step, CollectiveOp::kAllGather),
            (Volume{18, 6 * 768, 0, 6 * 768, 0}));
  EXPECT_EQ(trained(predict_zero3(setting).per_step, CollectiveOp::kReduceScatter),
            (Volume{9, 3 * 768, 0, 3 * 768, 0}));
}

TEST(ThreeRanks, AddingUpLocallyReducesOnce) {
  Setting setting = small_setting(3, 0);
  setting.micro_batches = 3;  // reductions stays 1

  EXPECT_EQ(sent(predict_ddp(setting).per_step), 2 * 768);
  EXPECT_EQ(sent(predict_zero1(setting).per_step), 2 * 768);
}

// One running sum: of 288 elements in DDP, of a third of them in ZeRO.
TEST(ThreeRanks, AccumulatorsHaveTheSizeOfTheReducedGradient) {
  const Setting setting = accumulating(small_setting(3, 0), 3);

  EXPECT_EQ(held(predict_ddp(setting).lasting, Category::kAccumulators), 1152);
  EXPECT_EQ(held(predict_zero1(setting).lasting, Category::kAccumulators), 384);
  EXPECT_EQ(held(predict_zero2(setting).lasting, Category::kAccumulators), 384);
  EXPECT_EQ(held(predict_zero3(setting).lasting, Category::kAccumulators), 384);
}

TEST(OneRank, CallsAreMadeButNothingIsSent) {
  for (const auto formula : {predict_ddp, predict_zero1, predict_zero2, predict_zero3}) {
    const StagePrediction stage = formula(small_setting(1, 0));

    EXPECT_EQ(sent(stage.per_step), 0);
    std::int64_t calls = 0;
    for (const Volume& v : stage.per_step[static_cast<std::size_t>(Traffic::kTraining)]) {
      calls += v.calls;
    }
    EXPECT_GT(calls, 0);
  }
}

}  // namespace
}  // namespace zerolab
