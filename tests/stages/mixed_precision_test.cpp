// Mixed precision: every stage has the bits of DDP, and holds and sends what was predicted.
#include "tests/stages/training_run.h"

namespace zerolab {
namespace {

void expect_all_stages_equal(const RunConfig& config) {
  const StageResult reference = train("ddp", config);
  for (const Finding& finding : reference.findings()) ADD_FAILURE() << finding.message;
  expect_predicted_bytes(reference, config);
  for (const char* stage : {"zero1", "zero2", "zero3"}) {
    const StageResult result = train(stage, config);
    expect_equal_bits(reference, result);
    expect_predicted_bytes(result, config);
  }
}

RunConfig mixed_config(int ranks, int accumulate, const char* precision) {
  RunConfig config = test_config(ranks, accumulate);
  config.precision = precision;
  // A scale that fp16 gradients of this model survive, so that steps are not all skipped.
  config.loss_scale.initial_power = config.precision == "fp16" ? 12 : 16;
  return config;
}

std::int64_t held(const RankResult& rank, Category category) {
  return rank.peak_by_category[static_cast<std::size_t>(category)];
}

/// Types on the way and of sums that differ from the precision's own; the matrix has those.
struct Types {
  const char* payload;  ///< empty: the precision's
  bool wide_sums;       ///< fp32, or the precision's
  int accumulate;
};
constexpr Types kTypes[] = {
    {"fp32", true, 1}, {"fp32", true, 3}, {"", false, 3}, {"fp32", false, 3}};

class OtherTypes : public testing::TestWithParam<int> {};

TEST_P(OtherTypes, of_payloads_and_sums_are_equal_in_all_stages_and_predicted) {
  if (kSanitized && GetParam() != 3) GTEST_SKIP() << "the corners are enough under a sanitizer";
  int rows = 0;
  for (const char* precision : {"bf16", "fp16"}) {
    if (kSanitized && rows > 0) break;
    for (const Types& types : kTypes) {
      RunConfig config = mixed_config(GetParam(), types.accumulate, precision);
      config.reduce_dtype = types.payload;
      if (!types.wide_sums) config.accumulate_dtype = precision;
      // The other settings take turns.
      config.optimizer.name = rows % 2 == 0 ? "adamw" : "sgd";
      config.overlap = rows % 3 != 0;
      config.guarded = rows % 4 == 0;
      SCOPED_TRACE(fmt::format("{} on {} ranks, accumulate {} in {}, payload '{}'", precision,
                               GetParam(), types.accumulate, config.accumulate_dtype,
                               types.payload));
      expect_all_stages_equal(config);
      ++rows;
    }
  }
  EXPECT_EQ(rows, kSanitized ? 4 : 8);
  std::cout << fmt::format(
      "[matrix] gpt-micro on {} ranks: {} combinations of stage, payload and type of sums, all "
      "equal\n",
      GetParam(), 4 * rows);
}
INSTANTIATE_TEST_SUITE_P(Ranks, OtherTypes, testing::Values(1, 2, 3, 4, 8));

TEST(MixedPrecision, a_payload_of_16_bits_in_fp32_training_is_equal_in_all_stages) {
  RunConfig config = test_config(3, 2);
  config.reduce_dtype = "bf16";
  expect_all_stages_equal(config);
}

TEST(MixedPrecision, a_payload_of_another_16_bit_type_is_equal_in_all_stages) {
  RunConfig config = mixed_config(3, 1, "fp16");
  config.reduce_dtype = "bf16";
  expect_all_stages_equal(config);
}

TEST(MixedPrecision, local_sums_are_fp32_and_equal_in_ddp_and_zero1) {
  RunConfig config = mixed_config(3, 3, "bf16");
  config.accumulation_order = AccumulationOrder::kLocal;

  const StageResult ddp = train("ddp", config);
  const StageResult zero1 = train("zero1", config);

  expect_equal_bits(ddp, zero1);
  expect_predicted_bytes(ddp, config);
  expect_predicted_bytes(zero1, config);
  EXPECT_EQ(held(ddp.ranks[0], Category::kGradients),
            2 * held(ddp.ranks[0], Category::kParameters));
}

// ZeRO paper, section 3.1: 2 + 2 + 12 bytes a parameter; fp32 sums over micro-batches add 4, fp32
// gradients 2 (Megatron-LM's 20 and 18).
TEST(MixedPrecision, holds_16_20_or_18_bytes_a_parameter) {
  const auto states = [](const RunConfig& config) {
    const RankResult rank = train("ddp", config).ranks[0];
    std::int64_t bytes = 0;
    for (const Category state :
         {Category::kParameters, Category::kGradients, Category::kAccumulators,
          Category::kMasterWeights, Category::kFirstMoments, Category::kSecondMoments}) {
      bytes += held(rank, state);
    }
    return bytes / (held(rank, Category::kMasterWeights) / 4);
  };
  RunConfig fp32_gradients = mixed_config(1, 1, "bf16");
  fp32_gradients.reduce_dtype = "fp32";

  EXPECT_EQ(states(mixed_config(1, 1, "bf16")), 16);
  EXPECT_EQ(states(mixed_config(1, 2, "bf16")), 20);
  EXPECT_EQ(states(fp32_gradients), 18);
}

class MixedWorldSizes : public testing::TestWithParam<std::tuple<std::string, const char*>> {};

TEST_P(MixedWorldSizes, have_the_same_bits_reduced_over_a_tree_in_fp32) {
  if (kSanitized) GTEST_SKIP() << "the corners are enough under a sanitizer";
  const auto& [stage, precision] = GetParam();
  const auto run = [&](int ranks, int accumulate, const char* reduce_dtype) {
    RunConfig config = mixed_config(ranks, accumulate, precision);
    config.reduction = Reduction::kTree;
    config.reduce_dtype = reduce_dtype;
    return train(stage, config);
  };
  const StageResult one = run(1, 8, "fp32");
  for (const int ranks : {2, 4, 8}) expect_equal_bits(one, run(ranks, 8 / ranks, "fp32"));
  expect_equal_bits(run(1, 12, "fp32"), run(4, 3, "fp32"));
  // Otherwise this would prove nothing: with a payload of 16 bits the bits do follow the ranks.
  EXPECT_NE(run(1, 8, "").fingerprints().back().values, run(2, 4, "").fingerprints().back().values);
}
INSTANTIATE_TEST_SUITE_P(StagesAndPrecisions, MixedWorldSizes,
                         testing::Combine(testing::ValuesIn(stage_names()),
                                          testing::Values("bf16", "fp16")),
                         [](const auto& row) {
                           return fmt::format("{}_{}", std::get<0>(row.param),
                                              std::get<1>(row.param));
                         });

}  // namespace
}  // namespace zerolab
