// COMM on stages that move too much, and on ranks that make other calls.
#include "experiments/checks/volume_check.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "baseline_ddp/ddp.h"
#include "stages/comm/call_header.h"
#include "stages/comm/world.h"
#include "tests/checks/rig.h"

namespace zerolab::test {
namespace {

RunConfig config_for(int ranks) {
  RunConfig config = micro_config(ranks);
  config.checks = {"COMM"};
  return config;
}

/// Reduces the first bucket once more: with N ranks a wrong sum, and a bucket's bytes too many.
class ExtraReduction final : public Ddp {
 public:
  using Ddp::Ddp;

 protected:
  void reduce_bucket(int bucket) override {
    Ddp::reduce_bucket(bucket);
    if (bucket == 0) Ddp::reduce_bucket(bucket);
  }
};

std::vector<Finding> volume_findings(const StageResult& result, const RunConfig& config) {
  std::vector<Finding> all;
  for (const RankResult& rank : result.ranks) {
    const Prediction predicted = predict(result.stage, config, model_of(config), rank.rank);
    for (Finding& finding : check_volume(rank, predicted, config)) {
      all.push_back(std::move(finding));
    }
  }
  return all;
}

TEST(VolumeCheck, SeesAReductionTooManyOnEveryRank) {
  for (const int ranks : {2, 3, 4}) {
    const RunConfig config = config_for(ranks);
    const auto findings = volume_findings(train(config, run_of<ExtraReduction>("ddp")), config);
    ASSERT_EQ(findings.size(), static_cast<std::size_t>(ranks)) << text_of(findings);
    EXPECT_NE(findings[0].message.find("all_reduce"), std::string::npos) << findings[0].message;
    EXPECT_GT(*findings[0].value, *findings[0].expected);
    EXPECT_EQ(findings.back().rank, ranks - 1);
  }
}

TEST(VolumeCheck, SeesOneByteInOneStepOfOneRank) {
  const RunConfig config = config_for(3);
  StageResult result = train(config, "zero2");
  ASSERT_TRUE(volume_findings(result, config).empty());
  const auto control = static_cast<std::size_t>(Traffic::kControl);
  const auto gather = static_cast<std::size_t>(CollectiveOp::kAllGather);
  result.ranks[2].training_volume[control][gather].received_intra += 1;
  const auto findings = volume_findings(result, config);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rank, 2);
}

TEST(VolumeCheck, LeavesNominalBytesOfNativeReductionsOut) {
  RunConfig config = config_for(3);
  StageResult result = train(config, "zero2");
  const auto training = static_cast<std::size_t>(Traffic::kTraining);
  const auto scatter = static_cast<std::size_t>(CollectiveOp::kReduceScatter);
  result.ranks[0].training_volume[training][scatter].sent_intra += 1;
  config.reduction = Reduction::kNative;
  EXPECT_TRUE(volume_findings(result, config).empty());
  result.ranks[0].training_volume[training][scatter].calls += 1;
  EXPECT_FALSE(volume_findings(result, config).empty());
}

TEST(CollectiveCheck, NamesTheFirstCallThatDiffersAndItsRank) {
  StageResult result = train(config_for(3), "zero1");
  ASSERT_TRUE(check_collectives(result).empty());
  ASSERT_GT(result.ranks[2].records.size(), 3U);
  std::swap(result.ranks[2].records[0], result.ranks[2].records[1]);
  const auto findings = check_collectives(result);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rank, 2);
  EXPECT_NE(findings[0].message.find("collective 0 of rank 2 is reduce_scatter"), std::string::npos)
      << findings[0].message;
  EXPECT_NE(findings[0].message.find("bucket 1), rank 0's is"), std::string::npos);
}

TEST(CollectiveCheck, SeesACallThatOneRankLeavesOut) {
  StageResult result = train(config_for(4), "zero3");
  result.ranks[3].records.pop_back();
  const auto findings = check_collectives(result);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].message.find("of rank 3 is no call"), std::string::npos)
      << findings[0].message;
}

/// What the communicator throws when `odd` makes another call than the others.
Failure mismatch(int ranks, int odd) {
  std::vector<CallHeader> headers;
  std::vector<int> numbers;
  for (int r = 0; r < ranks; ++r) {
    headers.push_back(make_call_header(
        7, CollectiveOp::kReduceScatter, DType::kFloat32, 96, -1,
        {"reduce-scatter gradients", Traffic::kTraining, r == odd ? "bucket 4" : "bucket 3"}));
    numbers.push_back(r);
  }
  std::vector<const CallHeader*> pointers;
  for (const CallHeader& header : headers) pointers.push_back(&header);
  try {
    compare_call_headers(pointers, numbers);
  } catch (const Failure& error) {
    return error;
  }
  return Failure("nothing was thrown");
}

TEST(CollectiveFinding, NamesTheRankThatIsAlone) {
  for (const int odd : {0, 1, 3}) {
    const auto finding = collective_finding(mismatch(4, odd));
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->check, "COMM");
    EXPECT_EQ(finding->rank, odd);
    EXPECT_NE(finding->message.find("bucket 4"), std::string::npos);
  }
}

TEST(CollectiveFinding, NamesTheLaterOfTwoEquallySmallGroups) {
  EXPECT_EQ(collective_finding(mismatch(2, 0))->rank, 1);
  EXPECT_EQ(collective_finding(mismatch(2, 1))->rank, 1);
}

TEST(CollectiveFinding, NamesTheRankThatAWatchdogMisses) {
  const auto world = make_thread_world(3, 1);
  try {
    world->run([](RankContext& ranks) {
      ranks.gather_texts("here");
      if (ranks.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(2));
      ranks.gather_texts("late");
    });
    FAIL() << "nobody missed rank 1";
  } catch (const Failure& failure) {
    const auto finding = collective_finding(failure);
    ASSERT_TRUE(finding) << failure.what();
    EXPECT_EQ(finding->rank, 1) << failure.what();
  }
}

TEST(CollectiveFinding, LeavesOtherErrorsAlone) {
  EXPECT_FALSE(collective_finding(Failure("[data] the disk is full")));
}

/// Rank 1 leaves a reduction out.
class SilentDdp final : public Ddp {
 public:
  using Ddp::Ddp;

 protected:
  void reduce_bucket(int bucket) override {
    if (bucket != 0 || parts_.comm.rank() != 1) Ddp::reduce_bucket(bucket);
  }
};

TEST(CollectiveFinding, ComesFromTheErrorOfARunInsteadOfAHang) {
  try {
    train(config_for(3), run_of<SilentDdp>("ddp"));
    FAIL() << "the run went through";
  } catch (const Failure& error) {
    const auto finding = collective_finding(error);
    ASSERT_TRUE(finding) << error.what();
    EXPECT_EQ(finding->rank, 1) << error.what();
  }
}

}  // namespace
}  // namespace zerolab::test
