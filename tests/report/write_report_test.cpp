#include "experiments/report/write_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "experiments/report/fingerprints_file.h"
#include "experiments/report/plots.h"
#include "experiments/report/report_json.h"
#include "experiments/report/steps_file.h"
#include "stages/core/error.h"
#include "tests/report/example_comparison.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

constexpr const char* kPlots[] = {"loss", "grad_norm", "memory", "communication", "throughput"};

TEST(WriteReport, LeavesEveryFileOfARun) {
  const TemporaryDirectory directory;
  const fs::path out = directory / "out";
  Comparison comparison = example_comparison();
  comparison.config.trace = true;
  RunDirectory run(out.string());

  const std::vector<std::string> notices = write_report(comparison, example_tensors(), run);
  run.commit();

  EXPECT_EQ(read_report((out / "report.json").string()).stages.size(), 3U);
  EXPECT_EQ(read_steps(out / "zero1/steps.jsonl").size(), 3U);
  EXPECT_EQ(read_fingerprints(out / "zero3/fingerprints.jsonl").tensors, example_tensors());
  EXPECT_TRUE(nlohmann::json::accept(content(out / "ddp/trace.json")));
  EXPECT_THAT(content(out / "junit.xml"), HasSubstr("<testsuite name=\"zero3\""));
  EXPECT_THAT(content(out / "report.html"), StartsWith("<!doctype html>"));
  if (!notices.empty()) {
    ASSERT_THAT(notices.front(), StartsWith("no plots: no Python"));
    GTEST_SKIP() << notices.front();
  }
  for (const char* plot : kPlots) {
    EXPECT_THAT(content(out / (std::string(plot) + ".png")), StartsWith("\x89PNG")) << plot;
    EXPECT_THAT(content(out / (std::string(plot) + ".svg")), HasSubstr("</svg>")) << plot;
  }
  EXPECT_THAT(content(out / "report.html"), HasSubstr("id=\"communication-"));
  EXPECT_THAT(content(out / "report.html"), HasSubstr("id=\"grad_norm-"));
}

TEST(Plots, AreDrawnOfRunsThatWentWrong) {
  const TemporaryDirectory directory;
  Comparison comparison = diverged_example();
  for (RankResult& rank : comparison.stages[2].result.ranks) {
    for (StepRecord& step : rank.steps) step.loss = std::numeric_limits<double>::quiet_NaN();
  }
  comparison.stages[1].predicted.clear();
  std::ofstream(directory / "report.json") << report_json(comparison);
  const std::string notice = draw_plots(directory.path());
  EXPECT_THAT(notice, ::testing::AnyOf("", StartsWith("no plots: no Python")));
}

TEST(Plots, ShowTheNoiseFloorAndTheStepsThatWereSkipped) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "report.json") << report_json(noisy_example());
  const std::string notice = draw_plots(directory.path());
  if (!notice.empty()) {
    ASSERT_THAT(notice, StartsWith("no plots: no Python"));
    GTEST_SKIP() << notice;
  }
  // Matplotlib names each text in a comment before it draws its letters.
  const std::string loss = content(directory / "loss.svg");
  const std::string norm = content(directory / "grad_norm.svg");
  for (const std::string& svg : {loss, norm}) {
    EXPECT_THAT(svg, HasSubstr("<!-- 3 clean runs in other orders, ×4 -->"));
    EXPECT_THAT(svg, HasSubstr("<!-- sums off by their rounding bound, ×4 -->"));
  }
  EXPECT_THAT(norm, HasSubstr("<!-- skipped: the gradient overflowed (1) -->"));
  EXPECT_THAT(norm, HasSubstr("<!-- clipped above 1 -->"));
  EXPECT_THAT(norm, HasSubstr("<!-- loss scale -->"));
}

TEST(Plots, AreDrawnOfASingleRankThatTrainedOneStage) {
  const TemporaryDirectory directory;
  Comparison comparison = example_comparison(1);
  comparison.stages.resize(1);
  std::ofstream(directory / "report.json") << report_json(comparison);
  const std::string notice = draw_plots(directory.path());
  EXPECT_THAT(notice, ::testing::AnyOf("", StartsWith("no plots: no Python")));
}

TEST(Plots, WithoutPythonAreANoticeNotAnError) {
  const TemporaryDirectory directory;
  EXPECT_THAT(draw_plots(directory.path(), "", "plots.py"), HasSubstr("python3-matplotlib"));
  EXPECT_THAT(draw_plots(directory.path(), "/no/such/python", "plots.py"),
              HasSubstr("cannot be started"));
}

TEST(Plots, AScriptThatFailsIsANoticeWithItsReason) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "plots.py") << "echo some words >&2; echo the reason >&2; exit 1\n";
  EXPECT_THAT(draw_plots(directory.path(), "/bin/sh", (directory / "plots.py").string()),
              HasSubstr("failed: the reason"));
}

TEST(Plots, AFullDiskIsAFailure) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "plots.py") << "echo No space left on device: loss.png >&2; exit 3\n";
  EXPECT_THROW(draw_plots(directory.path(), "/bin/sh", (directory / "plots.py").string()), Failure);
}

TEST(WriteReport, OfAStageWithoutFingerprintsHasNoFileForThem) {
  const TemporaryDirectory directory;
  const RunDirectory run((directory / "out").string());
  StageResult result = example_comparison().stages[0].result;
  for (RankResult& rank : result.ranks) rank.fingerprints.clear();
  write_stage_files(result, example_tensors(), run, false);
  EXPECT_TRUE(fs::exists(run.path() / "ddp/steps.jsonl"));
  EXPECT_FALSE(fs::exists(run.path() / "ddp/fingerprints.jsonl"));
  EXPECT_FALSE(fs::exists(run.path() / "ddp/trace.json"));
}

}  // namespace
}  // namespace zerolab
