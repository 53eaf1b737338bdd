// PROV on stages that lose, repeat, displace or hold back what they were given.
#include <gtest/gtest.h>

#include <algorithm>

#include "baseline_ddp/ddp.h"
#include "tests/checks/rig.h"
#include "zero1/zero1.h"
#include "zero2/zero2.h"
#include "zero3/zero3.h"

namespace zerolab::test {
namespace {

void expect_message(const std::vector<Finding>& findings, const std::string& part) {
  EXPECT_NE(text_of(findings).find(part), std::string::npos) << "no '" << part << "' in\n"
                                                             << text_of(findings);
}

/// Loses micro-batch 1 in the rows of bucket 2.
class DroppingZero2 final : public Zero2 {
 public:
  using Zero2::Zero2;

 protected:
  void accumulate_shard(int bucket, View reduced) override {
    if (bucket == 2 && micro_batch_.index == 1) return;
    Zero2::accumulate_shard(bucket, reduced);
  }
};

TEST(Provenance, NamesTheContributorThatIsMissingAndTheElements) {
  for (const int ranks : {1, 2, 3, 4}) {
    SCOPED_TRACE(ranks);
    const auto findings = provenance(micro_config(ranks, 3), run_of<DroppingZero2>("zero2"));
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings.front().check, "PROV");
    EXPECT_EQ(findings.front().phase, "gradients");
    EXPECT_FALSE(findings.front().tensor.empty());
    EXPECT_GE(findings.front().rank, 0);
    expect_message(findings, "rank 0's micro-batch 1");
    expect_message(findings, "missing from elements ");
    expect_message(findings, fmt::format("rank {}'s micro-batch 1", ranks - 1));
    EXPECT_EQ(text_of(findings).find("micro-batch 0"), std::string::npos) << text_of(findings);
  }
}

/// One rank's contribution to a unit never arrives.
class AbsentZero3 final : public Zero3 {
 public:
  using Zero3::Zero3;

 protected:
  void reduce_unit(UnitId unit) override {
    if (rank() == 2 && unit == 1) {
      gradients({.unit = unit});
      parts_.kernels.zero(parts_.compute, unit_gradients_[1].view());
    }
    Zero3::reduce_unit(unit);
  }
};

TEST(Provenance, NamesTheRankWhoseGradientsNeverArrive) {
  const auto findings = provenance(micro_config(3), run_of<AbsentZero3>("zero3"));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().tensor, "h.1.ln_1.weight");
  EXPECT_EQ(
      findings.front().message,
      "rank 2's micro-batch 0 is missing from elements 0–31 of h.1.ln_1.weight in what rank 0 "
      "owns");
}

/// Reduces the first bucket twice.
class RepeatingDdp final : public Ddp {
 public:
  using Ddp::Ddp;

 protected:
  void reduce_bucket(int bucket) override {
    if (bucket == 0) {
      parts_.kernels.add(parts_.compute, gradients_.slice(partition_.piece(0)),
                         gradients_.slice(partition_.piece(0)));
    }
    Ddp::reduce_bucket(bucket);
  }
};

TEST(Provenance, CountsWhatIsAddedTwice) {
  for (const int ranks : {1, 3}) {
    const auto findings = provenance(micro_config(ranks), run_of<RepeatingDdp>("ddp"));
    expect_message(findings, "rank 0's micro-batch 0 (2 times)");
    expect_message(findings, "counted too often in elements 0–31 of ln_f.weight");
  }
}

/// Never clears the sums of the step before.
class StaleZero1 final : public Zero1 {
 public:
  using Zero1::Zero1;
  void begin(const MicroBatch& micro_batch) override {
    if (begun_++ == 0) return Zero1::begin(micro_batch);
    MicroBatch later = micro_batch;
    later.index = 1;  // not the first: the buffer is kept
    micro_batch_.reduce = false;
    Zero1::begin(later);
    micro_batch_.index = micro_batch.index;
  }

 private:
  int begun_ = 0;
};

TEST(Provenance, SeesGradientsOfTheStepBefore) {
  const auto findings = provenance(micro_config(2), run_of<StaleZero1>("zero1"));
  EXPECT_FALSE(findings.empty());
}

/// Exchanges the two halves of its slice of the first bucket after each reduction.
class ShufflingZero2 final : public Zero2 {
 public:
  explicit ShufflingZero2(StageParts parts)
      : Zero2(std::move(parts)),
        half_(parts_.allocate(64, Category::kWorkspace, "half of a slice")) {}

 protected:
  void reduce_bucket(int bucket) override {
    Zero2::reduce_bucket(bucket);
    Stream& stream = parts_.comm.stream();
    const View first = gradients_.slice(partition_.in_shard(bucket).begin + 256, 64);
    const View second = gradients_.slice(partition_.in_shard(bucket).begin + 320, 64);
    parts_.comm.wait(parts_.compute.record(), "half of a slice allocated");
    parts_.kernels.copy(stream, first, half_.view());
    parts_.kernels.copy(stream, second, first);
    parts_.kernels.copy(stream, half_.view(), second);
    reduced_ = parts_.comm.record();
  }

 private:
  Buffer half_;
};

TEST(Provenance, TellsWhereDisplacedGradientsBelong) {
  const auto findings = provenance(micro_config(2), run_of<ShufflingZero2>("zero2"));
  ASSERT_FALSE(findings.empty());
  expect_message(findings, "hold the gradients of element ");
}

/// The last bucket's parameters never reach the other ranks.
class UnpublishingZero2 final : public Zero2 {
 public:
  using Zero2::Zero2;

 protected:
  void publish() override {
    parts_.comm.wait(parts_.compute.record(), "own slices updated");
    for (int bucket = 0; bucket + 1 < static_cast<int>(published_.size()); ++bucket) {
      parts_.comm.all_gather(parameters_.slice(partition_.slice(bucket, rank())),
                             parameters_.slice(partition_.piece(bucket)),
                             {"all-gather parameters", Traffic::kTraining, ""});
      published_[static_cast<std::size_t>(bucket)] = parts_.comm.record();
    }
  }
};

TEST(Provenance, SeesParametersThatAreOneStepOld) {
  for (const int ranks : {2, 3, 4}) {
    const auto findings = provenance(micro_config(ranks), run_of<UnpublishingZero2>("zero2"));
    ASSERT_FALSE(findings.empty()) << ranks;
    EXPECT_EQ(findings.front().phase, "parameters");
    expect_message(findings,
                   "in the forward pass of step 2 as they were after step 0, not as step "
                   "1 left them");
  }
}

/// Gathers a unit only once and keeps reading that copy.
class KeepingZero3 final : public Zero3 {
 public:
  using Zero3::Zero3;
  void release(const Use&) override { ++position_; }
};

TEST(Provenance, SeesGatheredParametersThatAreKeptTooLong) {
  const auto findings = provenance(micro_config(3), run_of<KeepingZero3>("zero3"));
  expect_message(findings, "as they were after step 0");
}

/// Clears the tied embedding's gradient when the head has already added to it.
class ForgettingDdp final : public Ddp {
 public:
  using Ddp::Ddp;
  View gradients(const Use& use) override {
    const View view = Ddp::gradients(use);
    const bool embedding = parts_.layout.unit(use.unit).name == "embedding";
    if (embedding && use.completes_gradient) parts_.kernels.zero(parts_.compute, view);
    return view;
  }
};

TEST(Provenance, SeesThatTheFirstOfTwoUsesOfATiedUnitIsLost) {
  const auto findings = provenance(micro_config(2), run_of<ForgettingDdp>("ddp"));
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().tensor, "wte.weight");
}

/// Reduces ones where a micro-batch has bypassed the unit, instead of zeros.
class InventingZero3 final : public Zero3 {
 public:
  using Zero3::Zero3;

 protected:
  void reduce_unit(UnitId unit) override {
    if (std::ranges::count(micro_batch_.uses, unit, &Use::unit) == 0) {
      parts_.kernels.fill(parts_.compute, gradients({.unit = unit}), 1);
    }
    Zero3::reduce_unit(unit);
  }
};

TEST(Provenance, SeesWhatABypassedBlockNeverWrote) {
  RunConfig config = micro_config(2, 2);
  config.skip_block_every = 2;  // the second micro-batch bypasses h.0
  EXPECT_EQ(text_of(provenance(config, stage_run("zero3"))), "");
  const auto findings = provenance(config, run_of<InventingZero3>("zero3"));
  ASSERT_FALSE(findings.empty());
  for (const Finding& finding : findings) EXPECT_TRUE(finding.tensor.starts_with("h.0."));
  expect_message(findings, "rank 0's micro-batch 0 (3 times) is counted too often in elements ");
}

TEST(Provenance, SeesWhatWasInventedWhereNobodyWrote) {
  RunConfig config = micro_config(2, 1);
  config.skip_block_every = 1;  // the only micro-batch bypasses h.0
  const auto findings = provenance(config, run_of<InventingZero3>("zero3"));
  ASSERT_FALSE(findings.empty());
  for (const Finding& finding : findings) EXPECT_TRUE(finding.tensor.starts_with("h.0."));
  expect_message(findings, "where no micro-batch wrote anything");
}

TEST(Provenance, MissesNothingThatABlockBypasses) {
  for (const std::string& stage : stage_names()) {
    for (const int every : {1, 2}) {
      for (const Shape shape : kShapes) {
        RunConfig config = micro_config(shape.ranks, shape.accumulate);
        config.skip_block_every = every;
        SCOPED_TRACE(fmt::format("{} on {} ranks, {} micro-batches, every {}", stage, shape.ranks,
                                 shape.accumulate, every));
        EXPECT_EQ(text_of(provenance(config, stage_run(stage))), "");
        if (!supports_local_accumulation(stage)) continue;
        EXPECT_EQ(text_of(provenance(config, stage_run(stage, AccumulationOrder::kLocal))), "");
      }
    }
  }
}

TEST(Provenance, RunsALargeModelAsASmallOneWithTheSameNames) {
  RunConfig config = micro_config(2);
  config.model = "gpt-small";
  config.bucket_mb = 1;
  EXPECT_EQ(text_of(provenance(config, stage_run("zero2"))), "");
  const auto findings = provenance(config, run_of<AbsentZero3>("zero3"));
  EXPECT_EQ(text_of(findings), "") << "two ranks: rank 2 does not exist";
  config.ranks = 3;
  expect_message(provenance(config, run_of<AbsentZero3>("zero3")), "of h.5.");
}

TEST(Provenance, TellsMoreThanTwelveContributorsApart) {
  const auto findings = provenance(micro_config(4, 5), run_of<DroppingZero2>("zero2"));
  expect_message(findings, "rank 3's micro-batch 1");
  EXPECT_EQ(text_of(findings).find("micro-batch 4"), std::string::npos) << text_of(findings);
}

}  // namespace
}  // namespace zerolab::test
