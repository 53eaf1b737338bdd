// The numbers that people quote, and how far padding moves the exact ones from them.
#include "experiments/predict/headline.h"

#include <gtest/gtest.h>

#include "experiments/predict/setting.h"

namespace zerolab {
namespace {

RunConfig on_ranks(int ranks, int accumulate = 1) {
  RunConfig config;
  config.ranks = ranks;
  config.accumulate = accumulate;
  return config;
}

// fp32 and AdamW: 4 + 4 + 8 = 16 bytes; N = 4.
TEST(PaperHeadline, ShardsOneStateAfterTheOther) {
  const RunConfig config = on_ranks(4);

  EXPECT_DOUBLE_EQ(paper_headline("ddp", config).states_bytes_per_parameter, 16);
  EXPECT_DOUBLE_EQ(paper_headline("zero1", config).states_bytes_per_parameter, 4 + 4 + 8.0 / 4);
  EXPECT_DOUBLE_EQ(paper_headline("zero2", config).states_bytes_per_parameter, 4 + 12.0 / 4);
  EXPECT_DOUBLE_EQ(paper_headline("zero3", config).states_bytes_per_parameter, 16.0 / 4);
}

TEST(PaperHeadline, SendsTwoOrThreePassesOverTheModel) {
  const RunConfig config = on_ranks(4);

  for (const char* stage : {"ddp", "zero1", "zero2"}) {
    EXPECT_DOUBLE_EQ(paper_headline(stage, config).passes_over_psi, 2) << stage;
    EXPECT_DOUBLE_EQ(paper_headline(stage, config).volume_in_psi, 1.5) << stage;
  }
  EXPECT_DOUBLE_EQ(paper_headline("zero3", config).passes_over_psi, 3);
  EXPECT_DOUBLE_EQ(paper_headline("zero3", config).volume_in_psi, 2.25);
}

TEST(PaperHeadline, CountsTheRepetitionsOfGradientAccumulation) {
  RunConfig config = on_ranks(2, 3);
  EXPECT_DOUBLE_EQ(paper_headline("ddp", config).passes_over_psi, 6);
  EXPECT_DOUBLE_EQ(paper_headline("zero1", config).passes_over_psi, 4);
  EXPECT_DOUBLE_EQ(paper_headline("zero2", config).passes_over_psi, 4);
  EXPECT_DOUBLE_EQ(paper_headline("zero3", config).passes_over_psi, 9);
  EXPECT_DOUBLE_EQ(paper_headline("ddp", config).states_bytes_per_parameter, 20);

  config.accumulation_order = AccumulationOrder::kLocal;
  EXPECT_DOUBLE_EQ(paper_headline("ddp", config).passes_over_psi, 2);
  EXPECT_DOUBLE_EQ(paper_headline("zero1", config).passes_over_psi, 2);
  EXPECT_DOUBLE_EQ(paper_headline("ddp", config).states_bytes_per_parameter, 16);
}

TEST(PaperHeadline, KnowsThatSgdKeepsOneMoment) {
  RunConfig config = on_ranks(1);
  config.optimizer.name = "sgd";
  EXPECT_DOUBLE_EQ(paper_headline("ddp", config).states_bytes_per_parameter, 12);
  config.optimizer.momentum = 0;
  EXPECT_DOUBLE_EQ(paper_headline("ddp", config).states_bytes_per_parameter, 8);
}

TEST(PaperHeadline, SendsNothingOnOneRank) {
  EXPECT_DOUBLE_EQ(paper_headline("zero3", on_ranks(1)).volume_in_psi, 0);
}

// GPT's tensors are multiples of 32 and its units of 32·N: nothing is padded, the limit is exact.
TEST(Headline, OfAModelWithoutPaddingIsThePapers) {
  const ModelSpec model = parse_model("gpt-small");
  const std::int64_t psi = layout_of(model).parameter_count();

  for (const int accumulate : {1, 3}) {
    const RunConfig config = on_ranks(4, accumulate);
    for (const char* stage : {"ddp", "zero1", "zero2", "zero3"}) {
      const Headline exact = headline(predict(stage, config, model, 2), psi, config.ranks);
      const Headline paper = paper_headline(stage, config);
      EXPECT_DOUBLE_EQ(exact.states_bytes_per_parameter, paper.states_bytes_per_parameter) << stage;
      EXPECT_DOUBLE_EQ(exact.volume_in_psi, paper.volume_in_psi) << stage;
      EXPECT_DOUBLE_EQ(exact.passes_over_psi, paper.passes_over_psi) << stage;
    }
  }
}

// With 5 ranks every cut leaves padding: a little more than the paper's number, never less.
TEST(Headline, OfAModelWithPaddingIsALittleAboveThePapers) {
  const ModelSpec model = parse_model("gpt-tiny");
  const std::int64_t psi = layout_of(model).parameter_count();
  const RunConfig config = on_ranks(5);

  for (const char* stage : {"ddp", "zero1", "zero2", "zero3"}) {
    const Headline exact = headline(predict(stage, config, model, 0), psi, config.ranks);
    const Headline paper = paper_headline(stage, config);
    EXPECT_GT(exact.passes_over_psi, paper.passes_over_psi) << stage;
    EXPECT_LT(exact.passes_over_psi, paper.passes_over_psi * 1.01) << stage;
    EXPECT_GT(exact.states_bytes_per_parameter, paper.states_bytes_per_parameter) << stage;
    EXPECT_LT(exact.states_bytes_per_parameter, paper.states_bytes_per_parameter * 1.01) << stage;
  }
}

}  // namespace
}  // namespace zerolab
