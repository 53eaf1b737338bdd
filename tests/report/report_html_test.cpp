#include "experiments/report/report_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tinyxml2.h>

#include <fstream>

#include "experiments/report/html.h"
#include "experiments/report/picture.h"
#include "experiments/report/stage_numbers.h"
#include "tests/report/example_comparison.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string page(const Comparison& comparison) {
  const TemporaryDirectory empty;
  return report_html(comparison, empty.path());
}

/// The page is written so that an XML parser, which forgives nothing, reads it too.
void expect_well_formed(const std::string& html) {
  tinyxml2::XMLDocument document;
  EXPECT_EQ(document.Parse(html.c_str()), tinyxml2::XML_SUCCESS) << document.ErrorStr();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

TEST(ReportHtml, SaysTheVerdictFirst) {
  const std::string html = page(example_comparison());
  const std::size_t verdict = html.find("trained the same model as ddp, to the last bit");
  ASSERT_NE(verdict, std::string::npos);
  EXPECT_LT(verdict, html.find("<table>"));
  EXPECT_THAT(html, HasSubstr("found nothing wrong in any stage"));
}

TEST(ReportHtml, IsWellFormedWithAndWithoutDivergence) {
  expect_well_formed(page(example_comparison()));
  expect_well_formed(page(diverged_example()));
  expect_well_formed(page(example_comparison(1)));
}

TEST(ReportHtml, SaysWhatTheNoiseFloorAllows) {
  const std::string html = page(noisy_example());
  EXPECT_THAT(html, HasSubstr("ddp was trained 3 times more"));
  EXPECT_THAT(html, HasSubstr("4e-07 in the loss of the last step, 2e-06 in the gradient norm"));
  EXPECT_THAT(html, HasSubstr("at most 0.062 of the sum"));
  expect_well_formed(html);
  EXPECT_THAT(page(example_comparison()), Not(HasSubstr("noise floor")));
}

TEST(ReportHtml, NeedsNoScriptAndNothingFromOutside) {
  const std::string html = page(diverged_example());
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
  EXPECT_THAT(html, Not(HasSubstr("href=\"http")));
  // The one address is the name of SVG's namespace.
  EXPECT_EQ(count(html, "http"), count(html, "http://www.w3.org/2000/svg"));
}

TEST(ReportHtml, ShowsTheFirstDivergenceWithItsEvidence) {
  const std::string html = page(diverged_example());
  EXPECT_THAT(html, HasSubstr("h.0.mlp.c_fc.weight"));
  EXPECT_THAT(html, HasSubstr("16,777,216"));
  EXPECT_THAT(html, HasSubstr("and 1 more like it"));
}

TEST(ReportHtml, EscapesWhatComesFromOutside) {
  Comparison comparison = diverged_example();
  const std::string evil = "<img src=x onerror=alert(1)>\"'&";
  comparison.stages[2].result.name = evil;
  comparison.stages[2].reason = evil;
  comparison.stages[2].first_divergence->tensor = evil;
  comparison.stages[2].findings[0].message = evil;
  comparison.stages[2].result.ranks[0].moments[2].name = "step 3 forward " + evil;
  comparison.stages[2].result.ranks[0].memory_events[0].name = evil;
  comparison.stages[2].result.ranks[0].records[0].what = evil;
  comparison.stages[2].result.ranks[0].peak_moment = evil;
  comparison.config.data = {evil};
  comparison.config.model = evil;
  comparison.environment.cpu = evil;
  comparison.notices = {evil};
  const std::string html = page(comparison);
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  expect_well_formed(html);
}

TEST(ReportHtml, MarksBytesThatAreNotTheFormulas) {
  Comparison comparison = example_comparison();
  EXPECT_THAT(page(comparison), Not(HasSubstr("≠")));
  comparison.stages[1].predicted[0].peak_by_category[0] += 4;
  EXPECT_THAT(page(comparison), HasSubstr("≠ 12,004"));
}

TEST(ReportHtml, TakesThePlotsInInTheirOwnNames) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "loss.svg")
      << "<?xml version=\"1.0\"?><!DOCTYPE svg><svg xmlns=\"http://www.w3.org/2000/svg\">"
         "<metadata><a/></metadata><defs><clipPath id=\"p1\"/></defs>"
         "<g clip-path=\"url(#p1)\" style=\"stroke: #1b1b1c; fill: #fdfdfe\"/></svg>";
  const std::string html = report_html(example_comparison(), directory.path());
  EXPECT_THAT(html, HasSubstr("id=\"loss-p1\""));
  EXPECT_THAT(html, HasSubstr("url(#loss-p1)"));
  EXPECT_THAT(html, HasSubstr("stroke: currentColor; fill: var(--paper)"));
  EXPECT_THAT(html, Not(HasSubstr("<metadata>")));
  expect_well_formed(html);
}

TEST(Picture, DrawsEveryRankShardWhereItLies) {
  const Comparison comparison = example_comparison(2);
  const std::string svg =
      step_picture(comparison.stages[2].result, whole_parameter_bytes(comparison));
  EXPECT_THAT(svg, HasSubstr("rank 0: 6.00 kB of parameters, 1/2 of the whole"));
  EXPECT_THAT(svg, HasSubstr("rank 1: 6.00 kB of parameters, 1/2 of the whole"));
  // Four lanes of states on two ranks are shards.
  EXPECT_EQ(count(svg, "held by other ranks"), 8U);
  expect_well_formed(svg);
}

TEST(Picture, NamesWhatMovesAndWhatComesAndGoes) {
  const Comparison comparison = example_comparison();
  const std::string svg = step_picture(comparison.stages[2].result, 12000);
  EXPECT_THAT(svg, HasSubstr("all-gather parameters h.0: 2.00 kB sent by each rank"));
  EXPECT_THAT(svg, HasSubstr(">RS 8.00 kB<"));
  EXPECT_THAT(svg, HasSubstr("unit gradients: gradient of embedding, 6.00 kB"));
}

TEST(Picture, OfOneRankMovesNothing) {
  const Comparison comparison = example_comparison(1);
  const std::string svg = step_picture(comparison.stages[2].result, 12000);
  EXPECT_THAT(svg, HasSubstr(">nothing<"));
  EXPECT_THAT(svg, Not(HasSubstr("sent by each rank")));
}

TEST(Picture, KnowsTheWholeModelEvenWhenNoRankHoldsIt) {
  Comparison comparison = example_comparison();
  EXPECT_EQ(whole_parameter_bytes(comparison), 12000);
  comparison.stages.erase(comparison.stages.begin(), comparison.stages.begin() + 2);  // zero3 alone
  EXPECT_EQ(whole_parameter_bytes(comparison), 12000);
}

TEST(Picture, OfAStageWithoutAStepIsEmpty) {
  StageResult result;
  result.ranks.resize(2);
  EXPECT_EQ(step_picture(result, 0), "");
}

TEST(Escaped, LeavesNothingThatHtmlWouldRead) {
  EXPECT_EQ(escaped("<a b='c' d=\"e\">&\x02"), "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;?");
}

}  // namespace
}  // namespace zerolab
