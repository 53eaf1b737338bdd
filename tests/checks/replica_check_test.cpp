// XR on stages whose ranks drift apart.
#include <gtest/gtest.h>

#include "baseline_ddp/ddp.h"
#include "tests/checks/rig.h"
#include "zero1/zero1.h"

namespace zerolab::test {
namespace {

RunConfig checked_by_xr(int ranks, int accumulate = 1) {
  RunConfig config = micro_config(ranks, accumulate);
  config.checks = {"XR"};
  return config;
}

/// Weights that differ on rank 1.
struct OwnWeights {
  explicit OwnWeights(const StageParts& parts)
      : values(parts.layout, parts.kernels, parts.comm.rank() == 1 ? 7U : 8U) {}
  RandomParameters values;
};
StageParts with_own_weights(StageParts parts, OwnWeights& weights) {
  return {parts.device, parts.compute,  parts.comm,    parts.kernels,
          parts.layout, weights.values, parts.clipper, parts.settings};
}
template <class Base>
class OwnWeightsStage final : private OwnWeights, public Base {
 public:
  explicit OwnWeightsStage(const StageParts& parts)
      : OwnWeights(parts), Base(with_own_weights(parts, *this)) {}
};

TEST(ReplicaCheck, NamesTheRankThatStartsFromOtherWeights) {
  for (const int ranks : {3, 4}) {
    for (const StageRun& run :
         {run_of<OwnWeightsStage<Ddp>>("ddp"), run_of<OwnWeightsStage<Zero1>>("zero1")}) {
      SCOPED_TRACE(fmt::format("{} on {} ranks", run.name, ranks));
      const auto findings = train(checked_by_xr(ranks), run).findings();
      ASSERT_FALSE(findings.empty());
      EXPECT_EQ(findings.front().step, 0);
      EXPECT_EQ(findings.front().phase, "parameters");
      EXPECT_EQ(findings.front().rank, 1);
      // Norms start from ones on every rank.
      EXPECT_EQ(findings.front().tensor, "h.1.attn.c_attn.weight") << findings.front().message;
    }
  }
}

/// Does not reduce the last bucket: every rank keeps its own gradient.
class ForgetfulDdp final : public Ddp {
 public:
  using Ddp::Ddp;

 protected:
  void reduce_bucket(int bucket) override {
    if (bucket + 1 < static_cast<int>(partition_.pieces().size())) Ddp::reduce_bucket(bucket);
  }
};

TEST(ReplicaCheck, SeesReplicatedGradientsThatDiffer) {
  const auto findings = train(checked_by_xr(3), run_of<ForgetfulDdp>("ddp")).findings();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().step, 1);
  EXPECT_EQ(findings.front().phase, "gradients");
  EXPECT_EQ(findings.front().tensor, "wte.weight") << "the end of the flat space";
}

/// The first bucket never reaches the other ranks.
class UnpublishingZero1 final : public Zero1 {
 public:
  using Zero1::Zero1;

 protected:
  void publish() override {}
};

TEST(ReplicaCheck, SeesParametersThatWereNotPublishedAfterTheFirstStep) {
  for (const Shape shape : {Shape{2, 1}, Shape{3, 3}}) {
    const auto findings =
        train(checked_by_xr(shape.ranks, shape.accumulate), run_of<UnpublishingZero1>("zero1"))
            .findings();
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings.front().step, 1);
    EXPECT_EQ(findings.front().phase, "parameters");
  }
}

TEST(ReplicaCheck, SeesTheLastUpdateThroughTheEvaluationThatFollows) {
  RunConfig config = checked_by_xr(2);
  config.steps = 1;
  const auto findings = train(config, run_of<UnpublishingZero1>("zero1")).findings();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().step, 1);
}

/// Rank 2 is one step ahead of the others.
class HastyDdp final : public Ddp {
 public:
  using Ddp::Ddp;
  void step(const StepSettings& settings) override {
    StepSettings own = settings;
    if (parts_.comm.rank() == 2) ++own.step;
    Ddp::step(own);
  }
};

TEST(ReplicaCheck, SeesMomentsAndParametersThatDifferAfterAnUnequalStep) {
  const auto findings = train(checked_by_xr(3), run_of<HastyDdp>("ddp")).findings();
  ASSERT_FALSE(findings.empty());
  for (const Finding& finding : findings) EXPECT_EQ(finding.rank, 2) << finding.message;
  EXPECT_EQ(findings.front().phase, "parameters");
}

/// Every rank reads micro-batch 0.
class SameData final : public BatchSource {
 public:
  explicit SameData(const BatchSource& source) : source_(source) {}
  BatchShape shape() const override { return source_.shape(); }
  void training(std::int64_t step, std::int64_t, HostBatch& batch) const override {
    source_.training(step, 0, batch);
  }
  std::int64_t held_out_count() const override { return source_.held_out_count(); }
  void held_out(std::int64_t index, HostBatch& batch) const override {
    source_.held_out(index, batch);
  }

 private:
  const BatchSource& source_;
};

TEST(ReplicaCheck, TellsWhenAllRanksReadTheSameData) {
  const auto findings =
      train_on([](const BatchSource& source) { return std::make_unique<SameData>(source); },
               checked_by_xr(3), stage_run("zero2"))
          .findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().phase, "data");
}

}  // namespace
}  // namespace zerolab::test
