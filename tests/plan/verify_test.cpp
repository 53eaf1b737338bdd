// A plan against real runs: every byte of every category, every message of every collective, of all
// stages, in each recipe that changes what is held or sent.
#include "experiments/plan/verify.h"

#include <gtest/gtest.h>

#include "stages/core/error.h"
#include "tests/plan/planned.h"

namespace zerolab {
namespace {

/// gpt-micro on 3 ranks, which divide nothing, unless a test says otherwise.
PlanRequest micro_request(int ranks = 3) {
  PlanRequest request = test::preset_request("gpt-micro", ranks);
  request.recipe.run.micro_batch = 1;
  request.recipe.run.evaluate_every = 0;
  request.recipe.run.bucket_mb = 0.01;
  return request;
}

void expect_exact(const PlanRequest& request) {
  const RunConfig& run = request.recipe.run;
  const Verification verification = verify_plan(request, {});
  EXPECT_GE(verification.quantities.size(), 4U * 10U);
  for (const VerifiedQuantity& quantity : verification.quantities) {
    EXPECT_EQ(quantity.predicted, quantity.measured)
        << quantity.stage << ", " << quantity.name << ", rank " << quantity.rank << " of "
        << run.ranks << "; " << run.precision << ", " << run.optimizer.name << ", checkpoints of "
        << run.checkpoint_every;
  }
  EXPECT_TRUE(verification.agrees());
}

TEST(Verification, IsExactForEveryPrecisionCheckpointAndOptimizer) {
  for (const char* precision : {"fp32", "bf16", "fp16"}) {
    for (const int every : {0, 1, 2}) {
      for (const char* optimizer : {"adamw", "sgd", "lamb", "muon"}) {
        PlanRequest request = micro_request();
        request.recipe.run.precision = precision;
        request.recipe.run.checkpoint_every = every;
        request.recipe.run.optimizer.name = optimizer;
        expect_exact(request);
      }
    }
  }
}

TEST(Verification, IsExactWhereMicroBatchesAreAddedUp) {
  for (const AccumulationOrder order : {AccumulationOrder::kReduced, AccumulationOrder::kLocal}) {
    for (const char* sum : {"fp32", "bf16"}) {
      PlanRequest request = micro_request();
      request.recipe.run.accumulate = 3;
      request.recipe.run.precision = "bf16";
      request.recipe.run.accumulate_dtype = sum;
      request.recipe.run.accumulation_order = order;
      request.recipe.run.skip_block_every = 2;
      expect_exact(request);
    }
  }
}

TEST(Verification, IsExactWhereGradientsTravelInAnotherType) {
  for (const auto& [precision, travelling] :
       {std::pair("bf16", "fp32"), std::pair("fp32", "bf16"), std::pair("fp16", "fp32")}) {
    PlanRequest request = micro_request();
    request.recipe.run.precision = precision;
    request.recipe.run.reduce_dtype = travelling;
    expect_exact(request);
  }
}

TEST(Verification, IsExactForEveryNumberOfRanksAndOrderOfSums) {
  for (const int ranks : {1, 2, 4, 5, 8}) {
    for (const Reduction reduction : {Reduction::kOrdered, Reduction::kRing, Reduction::kTree}) {
      if (reduction == Reduction::kTree && ranks == 5) continue;
      PlanRequest request = micro_request(ranks);
      request.recipe.run.reduction = reduction;
      request.recipe.run.accumulate = 2;
      request.recipe.run.overlap = ranks % 4 != 0;
      request.recipe.run.ranks_per_node = ranks % 2 == 0 ? 2 : 0;
      request.time.cluster.ranks_per_node = request.recipe.run.ranks_per_node;
      expect_exact(request);
    }
  }
}

TEST(Verification, IsExactForPaddedSequencesAndForOptimizersWithTheirOwnRules) {
  PlanRequest request = micro_request();
  request.recipe.run.padding = 0.5;
  request.recipe.run.dropout = 0.1;
  request.recipe.run.clip = 0;
  request.recipe.run.optimizer.name = "sgd";
  request.recipe.run.optimizer.momentum = 0;
  expect_exact(request);
  request.recipe.run.optimizer.name = "lamb";
  request.recipe.run.optimizer.lamb_norms = LambNorms::kShard;
  expect_exact(request);
}

TEST(Verification, RefusesWhatNoRunHereDoes) {
  PlanRequest request = micro_request();
  request.recipe.activations = Activations::kPublished;
  EXPECT_THROW(require_verifiable(request), BadInput);
  request = micro_request();
  request.recipe.accounting = Accounting::kMegatron;
  EXPECT_THROW(require_verifiable(request), BadInput);
}

}  // namespace
}  // namespace zerolab
