// The declared visits of each model: what a stage decides prefetching and reduction from.
#include <gmock/gmock.h>

#include "tests/model/model_bench.h"

namespace zerolab {
namespace {

using testing::ElementsAre;

/// "F embedding", "B h.1 done", "B embedding blind done"
std::vector<std::string> described(const ParameterLayout& layout, std::span<const Use> uses) {
  std::vector<std::string> result;
  for (const Use& use : uses) {
    const char* phase = use.phase == Phase::kForward     ? "F"
                        : use.phase == Phase::kRecompute ? "R"
                                                         : "B";
    result.push_back(fmt::format("{} {}{}{}", phase, layout.unit(use.unit).name,
                                 use.reads_parameters ? "" : " blind",
                                 use.completes_gradient ? " done" : ""));
  }
  return result;
}

ModelSpec narrow_tied_mlp() {
  ModelSpec spec = parse_model("tied-mlp");
  spec.config = TiedMlpConfig{5};
  return spec;
}

TEST(Uses, OfGptVisitTheTiedEmbeddingAtBothEndsOfEachPass) {
  ModelBench bench(parse_model("gpt-micro"), 1, 4);
  EXPECT_THAT(described(bench.layout(), bench.model().training_uses()),
              ElementsAre("F embedding", "F h.0", "F h.1", "F ln_f", "F embedding", "B embedding",
                          "B ln_f done", "B h.1 done", "B h.0 done", "B embedding blind done"));
}

TEST(Uses, OfGptComputeEachSegmentAgainBeforeItsBackward) {
  ModelSpec spec = parse_model("gpt-micro");
  spec.config = GptConfig{3, 8, 2, 4, 16};
  ModelBench bench(spec, 1, 4, {}, false, {.checkpoint_every = 2});
  EXPECT_THAT(described(bench.layout(), bench.model().training_uses()),
              ElementsAre("F embedding", "F h.0", "F h.1", "F h.2", "F ln_f", "F embedding",
                          "B embedding", "B ln_f done", "R h.2", "B h.2 done", "R h.0", "R h.1",
                          "B h.1 done", "B h.0 done", "B embedding blind done"));
}

TEST(Uses, OfGptBypassOneBlockAfterTheOther) {
  ModelBench bench(parse_model("gpt-micro"), 1, 4, {}, false, {.skip_block_every = 2});
  EXPECT_EQ(bench.model().training_uses(0).size(), 10U);
  EXPECT_THAT(described(bench.layout(), bench.model().training_uses(1)),
              ElementsAre("F embedding", "F h.1", "F ln_f", "F embedding", "B embedding",
                          "B ln_f done", "B h.1 done", "B embedding blind done"));
  EXPECT_EQ(bench.model().training_uses(2).size(), 10U);
  EXPECT_EQ(described(bench.layout(), bench.model().training_uses(3))[1], "F h.0");
  EXPECT_EQ(described(bench.layout(), bench.model().training_uses(5))[1], "F h.1");
}

TEST(Uses, OfGptInEvaluationAreTheForwardPass) {
  ModelBench bench(parse_model("gpt-micro"), 1, 4);
  EXPECT_THAT(described(bench.layout(), bench.model().evaluation_uses()),
              ElementsAre("F embedding", "F h.0", "F h.1", "F ln_f", "F embedding"));
}

TEST(Uses, OfTiedMlpVisitTheFirstLayerFourTimesAndCompleteItLast) {
  ModelBench bench(narrow_tied_mlp(), 2, 1);
  const auto uses = described(bench.layout(), bench.model().training_uses());
  ASSERT_EQ(uses.size(), 20U);
  EXPECT_EQ(uses[0], "F layers.0");
  EXPECT_EQ(uses[1], "F layers.1");
  EXPECT_EQ(uses[9], "F layers.0");
  EXPECT_EQ(uses[10], "B layers.0");
  EXPECT_EQ(uses[11], "B layers.8 done");
  EXPECT_EQ(uses[18], "B layers.1 done");
  EXPECT_EQ(uses[19], "B layers.0 blind done");
}

TEST(Uses, CompleteEveryUnitOnceAndInFlatOrder) {
  for (const ModelSpec& spec : {parse_model("gpt-micro"), narrow_tied_mlp()}) {
    ModelBench bench(spec, 1, 4);
    std::vector<UnitId> completed;
    for (const Use& use : bench.model().training_uses()) {
      if (use.completes_gradient) completed.push_back(use.unit);
    }
    std::vector<UnitId> flat(bench.layout().units().size());
    for (std::size_t unit = 0; unit < flat.size(); ++unit) flat[unit] = static_cast<UnitId>(unit);
    EXPECT_EQ(completed, flat) << spec.name;
  }
}

}  // namespace
}  // namespace zerolab
