#include "experiments/report/report_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "stages/core/error.h"
#include "tests/report/example_comparison.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ReportJson : public ::testing::Test {
 protected:
  std::string write(const std::string& text) const {
    const std::string path = (directory_ / "report.json").string();
    std::ofstream(path) << text;
    return path;
  }
  /// The refusal of a report in which `spoil` has changed something.
  template <class Spoil>
  std::string refusal(Spoil&& spoil) const {
    ordered_json json = ordered_json::parse(report_json(diverged_example()));
    spoil(json);
    try {
      read_report(write(json.dump()));
    } catch (const BadInput& error) {
      EXPECT_EQ(error.exit_code(), 2);
      return error.what();
    }
    return "nothing was refused";
  }

  TemporaryDirectory directory_;
};

TEST_F(ReportJson, HasTheKeysOfTheSchema) {
  const ordered_json report = ordered_json::parse(report_json(diverged_example()));

  EXPECT_EQ(report["schema"], "zerolab.report/2");
  EXPECT_EQ(report["reference"], "ddp");
  EXPECT_EQ(report["verdict"], "diverged");
  EXPECT_EQ(report["config"]["ranks"], 3);
  EXPECT_EQ(report["environment"]["eigen"], "3.4.0");
  const ordered_json& stage = report["stages"][2];
  EXPECT_EQ(stage["name"], "zero3");
  EXPECT_EQ(stage["loss"].size(), 3U);
  EXPECT_EQ(stage["grad_norm"][1], 0.2);
  const ordered_json& memory = stage["memory"]["per_rank"][1];
  EXPECT_EQ(memory["by_category"]["parameters"], 4000);
  EXPECT_EQ(memory["predicted_by_category"]["parameters"], 4000);
  EXPECT_GT(memory["peak_bytes"], 4 * 4000);
  const ordered_json& communication = stage["communication"]["per_rank"][2];
  // 4 gathers of 1000 and one reduce-scatter of 4000 bytes to each of 2 peers, and the losses.
  EXPECT_EQ(communication["sent_bytes_per_step"], 2 * (4 * 1000 + 4000 + 8));
  EXPECT_EQ(communication["received_bytes_per_step"], 2 * (4 * 1000 + 4000 + 8));
  EXPECT_EQ(communication["predicted_sent_bytes_per_step"], 2 * (4 * 1000 + 4000 + 8));
  EXPECT_EQ(communication["by_operation"]["reduce_scatter"]["calls"], 1);
  EXPECT_EQ(communication["by_operation"]["reduce_scatter"]["sent_bytes"], 8000);
  EXPECT_EQ(communication["control"]["by_operation"]["all_gather"]["sent_bytes"], 16);
  EXPECT_GT(stage["throughput"]["tokens_per_second"], 0);
  const ordered_json& divergence = stage["first_divergence"];
  EXPECT_EQ(divergence["tensor"], "h.0.mlp.c_fc.weight");
  EXPECT_EQ(divergence["element"], 4096);
  EXPECT_EQ(divergence["ulp"], 16777216);
  EXPECT_TRUE(report["stages"][0]["first_divergence"].is_null());
}

TEST_F(ReportJson, ThroughputIsTheTokensOfAStepOverItsMedian) {
  const ordered_json report = ordered_json::parse(report_json(example_comparison()));
  // The slowest rank is rank 2; its middle step takes 0.25 + 0.02 + 0.002 s.
  EXPECT_DOUBLE_EQ(report["stages"][0]["throughput"]["step_seconds_median"], 0.272);
  EXPECT_DOUBLE_EQ(report["stages"][0]["throughput"]["tokens_per_second"], 1536 / 0.272);
}

TEST_F(ReportJson, ReadsBackWhatItWrote) {
  const std::string text = report_json(diverged_example());
  EXPECT_EQ(report_json(read_report(write(text))), text);
}

TEST_F(ReportJson, KeepsTheNoiseFloorAndTheStepsThatWereSkipped) {
  const std::string text = report_json(noisy_example());
  const ordered_json report = ordered_json::parse(text);
  EXPECT_EQ(report["noise_floor"]["clean_runs"], 3);
  EXPECT_EQ(report["noise_floor"]["grad_norm"][1], 1.5e-6);
  EXPECT_EQ(report["noise_floor"]["loss_bound"][2], 9e-7);
  EXPECT_EQ(report["stages"][1]["skipped"], ordered_json({1}));
  EXPECT_EQ(report["stages"][1]["loss_scale"][0], 131072);

  const Comparison read = read_report(write(text));

  ASSERT_TRUE(read.noise_floor);
  EXPECT_EQ(read.noise_floor->gradient_bound, 0.0625);
  EXPECT_TRUE(read.stages[1].result.steps()[0].skipped);
  EXPECT_FALSE(read.stages[1].result.steps()[1].skipped);
  EXPECT_EQ(report_json(read), text);
  EXPECT_FALSE(read_report(write(report_json(example_comparison()))).noise_floor);
}

TEST_F(ReportJson, LossesSurviveToTheLastBit) {
  Comparison comparison = example_comparison();
  const double awkward[] = {std::nextafter(1.0, 2.0), 5e-324, std::nan("")};
  for (RankResult& rank : comparison.stages[1].result.ranks) {
    for (std::size_t s = 0; s < 3; ++s) rank.steps[s].loss = awkward[s];
    rank.steps[1].grad_norm = std::numeric_limits<float>::infinity();
  }

  const Comparison read = read_report(write(report_json(comparison)));

  const std::vector<StepRecord>& steps = read.stages[1].result.steps();
  EXPECT_EQ(steps[0].loss, awkward[0]);
  EXPECT_EQ(steps[1].loss, awkward[1]);
  EXPECT_TRUE(std::isnan(steps[2].loss));
  EXPECT_TRUE(std::isinf(steps[1].grad_norm));
}

TEST_F(ReportJson, OneRankWithoutStepsCanBeReported) {
  Comparison comparison = example_comparison(1);
  for (StageComparison& stage : comparison.stages) {
    stage.result.ranks[0].steps.clear();
    stage.predicted.clear();
  }
  const std::string text = report_json(comparison);
  EXPECT_EQ(report_json(read_report(write(text))), text);
}

TEST_F(ReportJson, ABytesPerStepThatDoesNotDivideStaysExact) {
  Comparison comparison = example_comparison();
  Volume& volume = comparison.stages[0].result.ranks[0].training_volume[0][0];
  volume.sent_intra += 1;  // in one of the three steps
  const ordered_json report = ordered_json::parse(report_json(comparison));
  const ordered_json& rank = report["stages"][0]["communication"]["per_rank"][0];
  EXPECT_TRUE(rank["sent_bytes_per_step"].is_number_float());
  EXPECT_FALSE(report["stages"][0]["communication"]["as_predicted"]);
}

TEST_F(ReportJson, AnotherSchemaIsRefused) {
  EXPECT_THAT(refusal([](ordered_json& json) { json["schema"] = "zerolab.report/1"; }),
              AllOf(HasSubstr("report.json"), HasSubstr("'schema'"), HasSubstr("report/1")));
}

TEST_F(ReportJson, AMissingKeyIsNamed) {
  EXPECT_THAT(refusal([](ordered_json& json) { json["stages"][1].erase("verdict"); }),
              HasSubstr("'stages[1]' has no 'verdict'"));
  EXPECT_THAT(refusal([](ordered_json& json) { json["config"].erase("ranks"); }),
              HasSubstr("'config' has no 'ranks'"));
}

TEST_F(ReportJson, AnUnknownVerdictIsRefusedWithTheKnownOnes) {
  EXPECT_THAT(refusal([](ordered_json& json) { json["verdict"] = "fine"; }),
              AllOf(HasSubstr("\"fine\""), HasSubstr("within_noise")));
}

TEST_F(ReportJson, CurvesOfUnequalLengthAreRefused) {
  EXPECT_THAT(refusal([](ordered_json& json) { json["stages"][0]["grad_norm"].erase(1); }),
              AllOf(HasSubstr("'stages[0].grad_norm'"), HasSubstr("3 numbers")));
}

TEST_F(ReportJson, AHeldOutLossOfAStepThatWasNotTrainedIsRefused) {
  EXPECT_THAT(
      refusal([](ordered_json& json) { json["stages"][0]["held_out_loss"][0]["step"] = 4; }),
      AllOf(HasSubstr("held_out_loss[0].step"), HasSubstr("from 1 to 3")));
}

TEST_F(ReportJson, RanksOutOfOrderAreRefused) {
  EXPECT_THAT(refusal([](ordered_json& json) {
                std::swap(json["stages"][0]["memory"]["per_rank"][0],
                          json["stages"][0]["memory"]["per_rank"][1]);
              }),
              HasSubstr("the ranks in order"));
}

TEST_F(ReportJson, NegativeBytesAndUnknownCategoriesAreRefused) {
  EXPECT_THAT(refusal([](ordered_json& json) {
                json["stages"][0]["memory"]["per_rank"][0]["by_category"]["gradients"] = -4;
              }),
              HasSubstr("by_category.gradients"));
  EXPECT_THAT(refusal([](ordered_json& json) {
                json["stages"][0]["memory"]["per_rank"][0]["at_peak"]["gradient"] = 4;
              }),
              HasSubstr("at_peak.gradient"));
}

TEST_F(ReportJson, MomentsThatPointOutsideTheEventsAreRefused) {
  EXPECT_THAT(refusal([](ordered_json& json) {
                json["stages"][2]["timeline"][0]["moments"][1]["first_event"] = 1000;
              }),
              HasSubstr("first_event"));
}

TEST_F(ReportJson, EveryTruncationIsRefused) {
  const std::string text = report_json(example_comparison(2));
  for (std::size_t length = 0; length + 3 < text.size(); length += 997) {
    EXPECT_THROW(read_report(write(text.substr(0, length))), BadInput) << length;
  }
}

}  // namespace
}  // namespace zerolab
