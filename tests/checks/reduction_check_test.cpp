// INV on stages that do not reduce what they were handed.
#include <gtest/gtest.h>

#include <limits>

#include "baseline_ddp/ddp.h"
#include "tests/checks/rig.h"
#include "zero1/zero1.h"
#include "zero2/zero2.h"
#include "zero3/zero3.h"

namespace zerolab::test {
namespace {

RunConfig checked_by_inv(int ranks, int accumulate = 1) {
  RunConfig config = micro_config(ranks, accumulate);
  config.checks = {"INV"};
  return config;
}

/// Sets one element of rank 1's shard of h.1 to `kValue` after the reduction.
class SpoilingZero3 : public Zero3 {
 public:
  using Zero3::Zero3;
  static constexpr float kValue = 3.5F;

 protected:
  void accumulate_shard(UnitId unit, View reduced) override {
    const bool here = parts_.layout.unit(unit).name == "h.1" && rank() == 1 && due();
    if (here) parts_.kernels.fill(parts_.comm.stream(), reduced.slice(100, 1), value());
    Zero3::accumulate_shard(unit, reduced);
  }
  virtual float value() const { return kValue; }
  virtual bool due() { return true; }

  /// The owned elements of h.1 begin at a fixed place of the unit: element 100 of the slice.
 public:
  Segment spoiled() const {
    const UnitId unit = parts_.layout.unit_of(parts_.layout.tensor_named("h.1.ln_1.weight"));
    for (Segment segment : partition_.segments(partition_.slice(unit, 1))) {
      if (segment.flat_begin <= 100 && 100 < segment.flat_begin + segment.count) {
        segment.tensor_begin += 100 - segment.flat_begin;
        return segment;
      }
    }
    return {};
  }
};

TEST(ReductionCheck, NamesStepTensorRankAndElementWithBothValues) {
  for (const int ranks : {2, 3, 4}) {
    SCOPED_TRACE(ranks);
    const RunConfig config = checked_by_inv(ranks);
    Segment spoiled;
    StageRun run = stage_run("zero3");
    run.factory = [&](StageParts parts) {
      const int rank = parts.comm.rank();
      auto stage = std::make_unique<SpoilingZero3>(std::move(parts));
      if (rank == 0) spoiled = stage->spoiled();
      return stage;
    };
    const StageResult result = train(config, run);
    const auto findings = result.findings();
    ASSERT_FALSE(findings.empty());
    const Finding& first = findings.front();
    EXPECT_EQ(first.check, "INV");
    EXPECT_EQ(first.step, 1);
    EXPECT_EQ(first.phase, "gradients");
    EXPECT_EQ(first.tensor, layout_of(config).tensor(spoiled.tensor).name);
    EXPECT_EQ(first.rank, 1);
    EXPECT_EQ(first.element, spoiled.tensor_begin);
    EXPECT_EQ(first.value, 3.5);
    EXPECT_NE(first.expected, 3.5);
    EXPECT_GT(first.ulp, 0);
    EXPECT_NE(first.message.find("; 1 of "), std::string::npos) << first.message;
    EXPECT_EQ(findings.size(), 3U) << "full on three steps, sampled in the fourth";
  }
}

class NanZero3 final : public SpoilingZero3 {
 public:
  using SpoilingZero3::SpoilingZero3;

 protected:
  float value() const override { return std::numeric_limits<float>::quiet_NaN(); }
};

TEST(ReductionCheck, TakesNanForWrong) {
  const auto findings = train(checked_by_inv(3), run_of<NanZero3>("zero3")).findings();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().ulp, -1);
}

/// Micro-batch 1 is lost.
class DroppingZero2 final : public Zero2 {
 public:
  using Zero2::Zero2;

 protected:
  void accumulate_shard(int bucket, View reduced) override {
    if (micro_batch_.index != 1) Zero2::accumulate_shard(bucket, reduced);
  }
};

TEST(ReductionCheck, SeesALostMicroBatch) {
  for (const int ranks : {1, 2, 3, 4}) {
    const auto findings =
        train(checked_by_inv(ranks, 3), run_of<DroppingZero2>("zero2")).findings();
    ASSERT_FALSE(findings.empty()) << ranks;
    EXPECT_EQ(findings.front().step, 1);
  }
}

/// A bucket exactly as long as the model's first piece is never reduced.
class SkippingZero1 final : public Zero1 {
 public:
  using Zero1::Zero1;

 protected:
  void reduce_bucket(int bucket) override {
    if (bucket != 1) Zero1::reduce_bucket(bucket);
  }
};

TEST(ReductionCheck, SeesABucketThatIsSkipped) {
  for (const Reduction reduction : {Reduction::kOrdered, Reduction::kTree, Reduction::kRing}) {
    RunConfig config = checked_by_inv(4);
    config.reduction = reduction;
    EXPECT_FALSE(train(config, run_of<SkippingZero1>("zero1")).findings().empty())
        << name_of(reduction);
  }
}

TEST(ReductionCheck, SeesALocalSumThatIsNotReduced) {
  RunConfig config = checked_by_inv(3, 3);
  config.accumulation_order = AccumulationOrder::kLocal;
  EXPECT_FALSE(
      train(config, run_of<SkippingZero1>("zero1", AccumulationOrder::kLocal)).findings().empty());
}

/// Breaks only after the steps in which everything is looked at.
class LateDdp final : public Ddp {
 public:
  using Ddp::Ddp;
  void step(const StepSettings& settings) override {
    Ddp::step(settings);
    ++steps_;
  }

 protected:
  void reduce_bucket(int bucket) override {
    Ddp::reduce_bucket(bucket);
    if (steps_ == 3 && parts_.comm.rank() == 2) {
      parts_.kernels.zero(parts_.comm.stream(), gradients_.slice(partition_.piece(bucket)));
      reduced_ = parts_.comm.record();
    }
  }

 private:
  int steps_ = 0;
};

TEST(ReductionCheck, SampleFindsWhatBreaksLater) {
  const auto findings = train(checked_by_inv(3), run_of<LateDdp>("ddp")).findings();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().step, 4);
  EXPECT_EQ(findings.front().rank, 2);
}

/// Shows only the first half of what it owns.
class HidingZero2 final : public Zero2 {
 public:
  using Zero2::Zero2;
  void visit_owned(Category category, const OwnedVisitor& visitor) override {
    bool first = true;
    Zero2::visit_owned(category, [&](const OwnedSlice& slice) {
      if (std::exchange(first, false)) visitor(slice);
    });
  }
};

TEST(ReductionCheck, SeesElementsThatNobodyOwns) {
  const auto findings = train(checked_by_inv(2), run_of<HidingZero2>("zero2")).findings();
  EXPECT_NE(text_of(findings).find("no rank holds element"), std::string::npos)
      << text_of(findings);
}

}  // namespace
}  // namespace zerolab::test
