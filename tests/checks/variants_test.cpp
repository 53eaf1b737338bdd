// REP and IG.
#include "experiments/checks/variants.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "baseline_ddp/ddp.h"
#include "tests/checks/rig.h"
#include "zero2/zero2.h"

namespace zerolab::test {
namespace {

RunConfig config_for(int ranks, int accumulate = 1) {
  RunConfig config = micro_config(ranks, accumulate);
  config.checks = {"REF"};
  return config;
}

std::vector<Finding> check(const std::vector<Variant>& variants, const RunConfig& config,
                           const StageRun& run) {
  return check_variants(train(config, run), layout_of(config), variants,
                        [&](const RunConfig& varied) { return train(varied, run); });
}

std::vector<std::string> sentences(const std::vector<Variant>& variants) {
  std::vector<std::string> all;
  for (const Variant& variant : variants) all.push_back(variant.what);
  return all;
}

bool mentions(const std::vector<Variant>& variants, const std::string& part) {
  for (const Variant& variant : variants) {
    if (variant.what.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(Variants, OfCleanStagesAreAllTheSame) {
  for (const std::string& stage : stage_names()) {
    const RunConfig config = config_for(3);
    EXPECT_EQ(text_of(check(repetitions(config), config, stage_run(stage))), "") << stage;
    EXPECT_EQ(text_of(check(regroupings(config, stage, AccumulationOrder::kReduced), config,
                            stage_run(stage))),
              "")
        << stage;
  }
}

TEST(Variants, OfTreeReductionsCoverEverySplitOfTheGlobalBatch) {
  RunConfig config = config_for(2, 6);
  config.reduction = Reduction::kTree;
  const auto variants = regroupings(config, "zero3", AccumulationOrder::kReduced);
  EXPECT_TRUE(mentions(variants, "on 1 rank with 12 micro-batches instead of 2 with 6"));
  EXPECT_TRUE(mentions(variants, "on 4 ranks with 3 micro-batches"));
  EXPECT_EQ(text_of(check(variants, config, stage_run("zero3"))), "");
}

TEST(Variants, NeverAskForMoreThanARunMayHave) {
  RunConfig config = config_for(1, 2000);
  EXPECT_FALSE(mentions(regroupings(config, "ddp", AccumulationOrder::kReduced), "2000 ranks"));
  config.bucket_mb = 4.0 / (1 << 20);  // one element
  EXPECT_FALSE(mentions(regroupings(config, "ddp", AccumulationOrder::kReduced), "bucket"));
  config.jitter = std::numeric_limits<std::uint64_t>::max();
  EXPECT_NE(repetitions(config).back().config.jitter, 0U);
}

TEST(Variants, VaryActivationCheckpointsWhereThereAreBlocks) {
  RunConfig config = config_for(2);
  EXPECT_TRUE(mentions(regroupings(config, "zero3", AccumulationOrder::kReduced),
                       "with activation checkpoints"));
  config.checkpoint_every = 2;
  EXPECT_TRUE(mentions(regroupings(config, "zero3", AccumulationOrder::kReduced),
                       "without activation checkpoints"));
  config.model = "tied-mlp";
  EXPECT_FALSE(mentions(regroupings(config, "zero3", AccumulationOrder::kReduced), "checkpoints"));
}

TEST(Variants, LeaveTheSplitAloneWhereItDecidesWhichBlocksAreBypassed) {
  RunConfig config = config_for(1, 4);
  EXPECT_TRUE(mentions(regroupings(config, "ddp", AccumulationOrder::kReduced), "on 4 ranks"));
  config.skip_block_every = 2;
  EXPECT_FALSE(mentions(regroupings(config, "ddp", AccumulationOrder::kReduced), "ranks"));
}

TEST(Variants, StayWithinThePromise) {
  RunConfig ring = config_for(3);
  ring.reduction = Reduction::kRing;
  EXPECT_FALSE(mentions(regroupings(ring, "zero2", AccumulationOrder::kReduced), "bucket"));
  EXPECT_FALSE(
      mentions(regroupings(config_for(3), "zero3", AccumulationOrder::kReduced), "bucket"));
  EXPECT_FALSE(mentions(regroupings(config_for(2, 3), "ddp", AccumulationOrder::kLocal), "ranks"));
  EXPECT_FALSE(mentions(regroupings(config_for(2, 3), "ddp", AccumulationOrder::kReduced), "ranks"))
      << "ordered sums over 2 ranks are grouped in another way than those of 1 or 6";
  EXPECT_EQ(sentences(repetitions(config_for(2))).size(), 2U);
}

/// Each run adds something else to the gradient.
class MoodyDdp final : public Ddp {
 public:
  explicit MoodyDdp(StageParts parts, std::atomic<int>& runs)
      : Ddp(std::move(parts)), run_(runs++ / parts_.comm.world_size()) {}

 protected:
  void reduce_bucket(int bucket) override {
    Ddp::reduce_bucket(bucket);
    if (bucket == 0) {
      parts_.kernels.fill(parts_.comm.stream(), gradients_.slice(0, 1), static_cast<float>(run_));
      reduced_ = parts_.comm.record();
    }
  }

 private:
  int run_;
};

TEST(Repetitions, SeeARunThatIsNotReproducible) {
  const RunConfig config = config_for(2);
  std::atomic<int> runs = 0;
  StageRun run = stage_run("ddp");
  run.factory = [&](StageParts parts) {
    return std::make_unique<MoodyDdp>(std::move(parts), runs);
  };
  const auto findings = check(repetitions(config), config, run);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].check, "REP");
  EXPECT_EQ(findings[0].tensor, "ln_f.weight");
  EXPECT_NE(findings[0].message.find("ddp is not the same in a second run"), std::string::npos);
}

/// Uses memory that it never wrote.
class UnwrittenZero2 final : public Zero2 {
 public:
  using Zero2::Zero2;

 protected:
  void accumulate_shard(int bucket, View reduced) override {
    const Buffer fresh = parts_.device.allocate(DType::kFloat32, 1, Category::kWorkspace,
                                                "never written", parts_.comm.stream());
    // Fresh pages are zero; poisoned ones are not.
    parts_.kernels.add(parts_.comm.stream(), fresh.view(), reduced.slice(0, 1));
    Zero2::accumulate_shard(bucket, reduced);
  }
};

TEST(Repetitions, SeeMemoryThatWasNeverWritten) {
  const RunConfig config = config_for(2);
  const auto findings = check({repetitions(config)[1]}, config, run_of<UnwrittenZero2>("zero2"));
  ASSERT_FALSE(findings.empty());
  EXPECT_NE(findings[0].message.find("NaN in fresh and freed memory"), std::string::npos);
}

/// A tensor that fits a bucket exactly is reduced, one that is cut is scaled.
class BucketDependentDdp final : public Ddp {
 public:
  using Ddp::Ddp;

 protected:
  void reduce_bucket(int bucket) override {
    Ddp::reduce_bucket(bucket);
    parts_.kernels.fill(parts_.comm.stream(), gradients_.slice(partition_.piece(bucket).begin, 1),
                        0.25F);
    reduced_ = parts_.comm.record();
  }
};

TEST(Regroupings, SeeAResultThatFollowsTheBuckets) {
  const RunConfig config = config_for(3);
  const auto findings = check(regroupings(config, "ddp", AccumulationOrder::kReduced), config,
                              run_of<BucketDependentDdp>("ddp"));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].check, "IG");
  EXPECT_EQ(findings[0].phase, "gradients");
  EXPECT_NE(findings[0].message.find("with a bucket of"), std::string::npos);
}

}  // namespace
}  // namespace zerolab::test
