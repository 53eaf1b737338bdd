// Every benchmark in small: its figures have the right structure. Nothing is said about times.
#include "experiments/bench/topics.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/bench/sound_figures.h"

namespace zerolab {
namespace {

using test::expect_sound;

StepShape micro() { return {"micro", "gpt-micro", 2, 8, {}, true}; }

TEST(StepsBench, ComparesWithPyTorchWhereItIsInstalled) {
  StepsSettings settings;
  settings.shapes = {micro()};
  settings.threads = {1};
  settings.pairs = 2;
  settings.sample_seconds = 0.01;
  Remarks remarks;

  const std::vector<Figure> figures = bench_steps(settings, remarks);

  expect_sound(figures, "steps");
  if (remarks.notices.empty()) {
    ASSERT_EQ(figures.size(), 2U);  // PyTorch as it comes, and tuned
    EXPECT_EQ(figures[0].parts.size(), 2U);
    EXPECT_TRUE(figures[0].unit.empty());
  } else {
    ASSERT_EQ(figures.size(), 1U);
    EXPECT_EQ(figures[0].unit, "tokens/s");
    EXPECT_NE(remarks.notices[0].find("PyTorch"), std::string::npos) << remarks.notices[0];
  }
}

TEST(StagesBench, ComparesDdpWithIndependentRanksAndZeroWithDdp) {
  StagesSettings settings;
  settings.model = "gpt-micro";
  settings.batch = 1;
  settings.ranks = 3;
  settings.pairs = 2;
  settings.sample_seconds = 0.01;
  Remarks remarks;

  const std::vector<Figure> figures = bench_stages(settings, remarks);

  expect_sound(figures, "stages");
  ASSERT_EQ(figures.size(), 4U);
  EXPECT_EQ(figures[0].parts[1].name, "independent");
  EXPECT_EQ(figures[3].name, "zero3");
}

TEST(RecipesBench, ComparesBf16AndCheckpointsWithThePlainStep) {
  RecipesSettings settings;
  settings.shapes = {micro()};
  settings.pairs = 2;
  settings.sample_seconds = 0.01;
  Remarks remarks;

  const std::vector<Figure> figures = bench_recipes(settings, remarks);

  expect_sound(figures, "recipes");
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].name, "micro, bf16");
}

TEST(TimeModelBench, PredictsEveryStageFromRatesThatItMeasures) {
  TimeModelSettings settings;
  settings.model = "gpt-micro";
  settings.batch = 1;
  settings.pairs = 2;
  settings.sample_seconds = 0.01;
  Remarks remarks;

  const std::vector<Figure> figures = bench_time_model(settings, remarks);

  expect_sound(figures, "time-model");
  ASSERT_EQ(figures.size(), 4U);
  EXPECT_EQ(figures[0].parts[0].name, "predicted");
  EXPECT_EQ(figures[3].name, "zero3");
}

TEST(ChecksBench, ShowsEachStageAndTheSumWithAndWithoutProvenance) {
  ChecksSettings settings;
  settings.config.model = "gpt-micro";
  settings.config.steps = 2;
  settings.config.micro_batch = 1;
  settings.config.ranks = 3;
  settings.pairs = 1;
  Remarks remarks;

  const std::vector<Figure> figures = bench_checks(settings, remarks);

  expect_sound(figures, "checks");
  ASSERT_EQ(figures.size(), 10U);
  EXPECT_EQ(figures[8].name, "all stages, all");
}

TEST(CollectivesBench, MeasuresBandwidthAndTheFractionOfACopy) {
  CollectivesSettings settings;
  settings.bytes = {1000, 100'000};
  settings.pairs = 2;
  Remarks remarks;

  const std::vector<Figure> figures = bench_collectives(*make_thread_world(3), settings, remarks);

  expect_sound(figures, "collectives");
  const auto limits =
      std::ranges::count_if(figures, [](const Figure& f) { return f.unit.empty(); });
  EXPECT_EQ(limits, 6);  // three operations, two ways to copy
  EXPECT_EQ(figures.size(), 12U);
}

TEST(KernelsBench, HoldsKernelsAgainstTheirLimits) {
  KernelsSettings settings;
  settings.shapes = {micro()};
  settings.threads = {1, 2};
  settings.adamw_elements = 1001;
  settings.pairs = 2;
  settings.sample_seconds = 1e-4;
  Remarks remarks;

  const std::vector<Figure> figures = bench_kernels(settings, remarks);

  expect_sound(figures, "kernels");
  EXPECT_EQ(figures.size(), 2U + 2U * 8U);
}

TEST(MemoryBench, HoldsTheResidentSetAgainstTheLedgers) {
  MemorySettings settings;
  settings.model = "gpt-tiny";
  settings.batch = 1;
  settings.single_ranks = {{micro(), 0}};
  Remarks remarks;

  const std::vector<Figure> figures = bench_memory(settings, remarks);

  if (!remarks.notices.empty()) GTEST_SKIP() << remarks.notices[0];
  expect_sound(figures, "memory");
  EXPECT_EQ(figures.size(), 5U);
}

#ifdef ZEROLAB_PROGRAM
TEST(CompareBench, RunsTheProgramItself) {
  CompareSettings settings;
  settings.program = ZEROLAB_PROGRAM;
  settings.options = {"--model", "gpt-micro", "--steps", "1", "--ranks", "2", "--plots", "off"};
  Remarks remarks;

  expect_sound(bench_compare(settings, remarks), "compare");
}

TEST(CompareBench, FailsWhenTheProgramDoes) {
  CompareSettings settings;
  settings.program = ZEROLAB_PROGRAM;
  settings.options = {"--ranks", "0"};
  Remarks remarks;

  EXPECT_THROW(bench_compare(settings, remarks), Failure);
}
#endif

}  // namespace
}  // namespace zerolab
