// Checkpoints, dropout, padding and bypassed blocks: every stage has the bits of DDP and the bytes
// of the prediction, checkpoints change nothing, and the cut into ranks and micro-batches neither.
#include "tests/stages/training_run.h"

namespace zerolab {
namespace {

/// What a run is told besides the defaults.
using Change = void (*)(RunConfig&);
struct Options {
  const char* name;
  Change apply;
};

const Options kOptions[] = {
    {"CheckpointsOfOneBlock", [](RunConfig& c) { c.checkpoint_every = 1; }},
    {"CheckpointsOfTwoBlocks", [](RunConfig& c) { c.checkpoint_every = 2; }},
    {"Dropout", [](RunConfig& c) { c.dropout = 0.1; }},
    {"Padding", [](RunConfig& c) { c.padding = 1; }},
    {"BypassedBlocks", [](RunConfig& c) { c.accumulate = 3, c.skip_block_every = 1; }},
    {"AllTogether",
     [](RunConfig& c) {
       c.accumulate = 3, c.dropout = 0.1, c.padding = 0.5, c.checkpoint_every = 2;
       c.skip_block_every = 2;
     }},
};

class ModelOptionsParity : public testing::TestWithParam<Options> {};

TEST_P(ModelOptionsParity, all_stages_equal_ddp_and_the_prediction) {
  for (const int ranks : {1, 3}) {
    if (kSanitized && ranks != 3) continue;
    RunConfig config = test_config(ranks, 1);
    GetParam().apply(config);
    config.checks = {"REF", "ORD", "INV", "NORM", "XR"};
    SCOPED_TRACE(fmt::format("{} ranks", ranks));
    const StageResult reference = train("ddp", config);
    for (const std::string& stage : stage_names()) {
      const StageResult result = train(stage, config);
      expect_equal_bits(reference, result);
      expect_predicted_bytes(result, config);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Options, ModelOptionsParity, testing::ValuesIn(kOptions),
                         [](const auto& options) { return options.param.name; });

TEST(Checkpoints, do_not_change_a_bit) {
  if (kSanitized) GTEST_SKIP() << "the combinations above are enough under a sanitizer";
  for (const double dropout : {0.0, 0.2}) {
    RunConfig config = test_config(2, 2);
    config.dropout = dropout;
    const StageResult all_kept = train("ddp", config);
    for (const int every : {1, 2, 5}) {
      config.checkpoint_every = every;
      expect_equal_bits(all_kept, train("zero3", config));
    }
  }
}

TEST(Dropout, changes_training_and_leaves_evaluation_alone) {
  RunConfig config = test_config(2, 1);
  config.steps = 1;
  config.warmup_steps = 2;
  config.learning_rate = 1e-30;  // the weights stay what they were
  const StageResult without = train("zero2", config);
  config.dropout = 0.3;
  const StageResult with = train("zero2", config);
  EXPECT_NE(with.steps()[0].loss, without.steps()[0].loss);
  EXPECT_EQ(with.steps()[0].held_out_loss, without.steps()[0].held_out_loss);
}

TEST(ModelOptions, keep_their_bits_on_any_number_of_ranks) {
  if (kSanitized) GTEST_SKIP() << "the combinations above are enough under a sanitizer";
  const auto run = [](const std::string& stage, int ranks, int accumulate) {
    RunConfig config = test_config(ranks, accumulate);
    config.reduction = Reduction::kTree;
    config.dropout = 0.2;
    config.padding = 1;
    config.checkpoint_every = ranks % 2;
    return train(stage, config);
  };
  const StageResult one = run("ddp", 1, 4);
  for (const std::string& stage : stage_names()) {
    expect_equal_bits(one, run(stage, 2, 2));
    expect_equal_bits(one, run(stage, 4, 1));
  }
}

TEST(BypassedBlocks, are_reduced_with_what_earlier_micro_batches_left_in_local_order) {
  RunConfig config = test_config(3, 2);  // the second, which reduces, bypasses the first block
  config.skip_block_every = 2;
  config.accumulation_order = AccumulationOrder::kLocal;
  config.checks = {"REF", "ORD", "INV", "NORM"};
  const StageResult ddp = train("ddp", config);
  const StageResult zero1 = train("zero1", config);
  expect_equal_bits(ddp, zero1);
  expect_predicted_bytes(zero1, config);
  EXPECT_TRUE(ddp.findings().empty());
}

TEST(Padding, makes_the_loss_a_mean_over_all_tokens_that_count) {
  // One sequence a micro-batch, so that the tokens of each are its own.
  RunConfig config = test_config(3, 2);
  config.micro_batch = 1;
  config.padding = 1;
  const StageResult result = train("zero2", config);
  RunConfig whole = config;
  whole.ranks = 1;
  whole.accumulate = 1;
  whole.micro_batch = 6;  // the same six sequences in one mean
  const StageResult together = train("ddp", whole);
  const StepRecord& cut = result.steps()[0];
  const StepRecord& uncut = together.steps()[0];
  EXPECT_EQ(cut.tokens, uncut.tokens);
  EXPECT_LT(cut.tokens, 6 * 16);
  EXPECT_NEAR(cut.loss, uncut.loss, 1e-7 * uncut.loss);  // products round by their sizes
  EXPECT_NEAR(cut.grad_norm, uncut.grad_norm, 1e-5F * uncut.grad_norm);
}

TEST(Padding, may_take_whole_micro_batches_but_not_the_whole_step) {
  RunConfig config = test_config(1, 1);
  config.micro_batch = 1;
  config.sequence = 1;
  config.padding = 1;
  config.steps = 100;  // each step has one target or none
  config.evaluate_every = 0;
  try {
    train("ddp", config);
    FAIL() << "a step without tokens was trained";
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("no token of step"), std::string::npos);
  }
  config.ranks = 4;
  config.accumulate = 4;  // some of the 16 micro-batches are empty, all of them never
  config.steps = 3;
  const StageResult several = train("zero3", config);
  EXPECT_LT(several.steps()[0].tokens, 16);
  expect_equal_bits(train("ddp", config), several);
}

}  // namespace
}  // namespace zerolab
