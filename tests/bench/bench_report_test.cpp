#include "experiments/bench/bench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "stages/core/error.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using testing::HasSubstr;

BenchReport example() {
  BenchReport report;
  report.command = "zerolab bench steps";
  report.machine.environment.cpu = "a processor";
  report.machine.cores = 2;
  report.figures = {{"steps",
                     "S, 1 thread",
                     "tokens over tokens",
                     "",
                     spread_of({1.4, 1.2, 1.3}),
                     Goal{1.1, std::nullopt, 1.3},
                     {{"zerolab", "tokens/s", spread_of({11380})}}},
                    {"stages",
                     "ddp",
                     "time over time",
                     "",
                     spread_of({1.01}),
                     Goal{std::nullopt, 1.03, std::nullopt},
                     {}},
                    {"memory",
                     "zero1",
                     "bytes over bytes",
                     "",
                     spread_of({0.99}),
                     Goal{0.95, 1.05, std::nullopt},
                     {}}};
  report.notices = {"the sky was grey"};
  return report;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(BenchReport, ShowsMedianSpreadGoalsAndMachineInTheTable) {
  const std::string table = bench_table(example());

  EXPECT_THAT(table, HasSubstr("a processor, 2 cores"));
  EXPECT_THAT(table, HasSubstr("steps: tokens over tokens"));
  EXPECT_THAT(table, HasSubstr("S, 1 thread  1.30 (1.20 to 1.40)  ≥ 1.10         ≥ 1.30  zerolab "
                               "11,380 tokens/s"));
  EXPECT_THAT(table, HasSubstr("≤ 1.03"));
  EXPECT_THAT(table, HasSubstr("0.950 to 1.05"));
  EXPECT_THAT(table, HasSubstr("note: the sky was grey"));
}

TEST(BenchReport, WritesTheSameFiguresAsJson) {
  const auto json = nlohmann::json::parse(bench_json(example()));

  EXPECT_EQ(json["machine"]["cpu"], "a processor");
  EXPECT_EQ(json["figures"][0]["median"], 1.3);
  EXPECT_EQ(json["figures"][0]["goal"], (nlohmann::json{{"at_least", 1.1}, {"aim", 1.3}}));
  EXPECT_EQ(json["figures"][0]["parts"][0]["median"], 11380);
  EXPECT_EQ(json["figures"][1]["goal"], (nlohmann::json{{"at_most", 1.03}}));
  EXPECT_EQ(json["notices"][0], "the sky was grey");
}

TEST(BenchReport, SaysInJsonWhichNumberIsNotFinite) {
  BenchReport report = example();
  report.figures[0].value.median = std::numeric_limits<double>::quiet_NaN();

  const auto json = nlohmann::json::parse(bench_json(report));

  EXPECT_TRUE(json["figures"][0]["median"].is_null());
  EXPECT_EQ(json["figures"][0]["nonfinite"]["median"], "nan");
}

TEST(BenchReport, RoundsNumbersToWhatCanBeRead) {
  EXPECT_EQ(number_text(123456.7), "123,457");
  EXPECT_EQ(number_text(123.4), "123");
  EXPECT_EQ(number_text(12.34), "12.3");
  EXPECT_EQ(number_text(1.234), "1.23");
  EXPECT_EQ(number_text(0.9998), "1.00");
  EXPECT_EQ(number_text(0.8712), "0.871");
  EXPECT_EQ(number_text(0.00123), "0.0012");
}

TEST(ResultsPage, ReplacesWhatStandsBetweenTheMarks) {
  const TemporaryDirectory directory;
  const std::filesystem::path page = directory / "page.md";
  std::ofstream(page) << "before\n<!-- results -->\nold\n<!-- end -->\nafter\n";

  ResultsPage(page).write(bench_markdown(example()));

  const std::string text = content(page);
  EXPECT_TRUE(text.starts_with("before\n<!-- results -->\nMeasured with `zerolab bench steps`"));
  EXPECT_TRUE(text.ends_with("<!-- end -->\nafter\n"));
  EXPECT_THAT(text, HasSubstr("| S, 1 thread | 1.30 (1.20 to 1.40) | ≥ 1.10 | ≥ 1.30 |"));
  EXPECT_THAT(text, testing::Not(HasSubstr("old")));
}

TEST(ResultsPage, CanBeWrittenAgain) {
  const TemporaryDirectory directory;
  const std::filesystem::path page = directory / "page.md";
  std::ofstream(page) << "<!-- results -->\n<!-- end -->\n";
  ResultsPage(page).write("one\n");

  ResultsPage(page).write("two\n");

  EXPECT_EQ(content(page), "<!-- results -->\ntwo\n<!-- end -->\n");
}

TEST(ResultsPage, RefusesAPageWithoutAPlaceBeforeAnythingIsMeasured) {
  const TemporaryDirectory directory;
  const std::filesystem::path page = directory / "page.md";
  EXPECT_THROW(ResultsPage{page}, BadInput);
  std::ofstream(page) << "<!-- end -->\n<!-- results -->\n";

  EXPECT_THROW(ResultsPage{page}, BadInput);
}

}  // namespace
}  // namespace zerolab
