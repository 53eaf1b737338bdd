// Figures that papers and manuals print, recomputed by the planner.
#include "experiments/plan/published_tables.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "stages/core/error.h"

namespace zerolab {
namespace {

std::vector<RecomputedFigure> all_recomputed() {
  std::vector<RecomputedFigure> figures;
  for (const PublishedFigure& figure : published_figures()) figures.push_back(recompute(figure));
  return figures;
}

TEST(PublishedTables, EveryFigureIsOursAtPrintedPrecisionUnlessItContradictsItsSource) {
  for (const RecomputedFigure& figure : all_recomputed()) {
    EXPECT_EQ(figure.agrees, figure.figure.agrees)
        << figure.figure.table << ": " << figure.figure.row << " is printed as "
        << figure.figure.published << " and computed as " << figure.ours;
  }
}

TEST(PublishedTables, EveryContradictionIsExplainedAndEveryFigureHasASource) {
  for (const PublishedFigure& figure : published_figures()) {
    EXPECT_FALSE(figure.source.empty()) << figure.table << ": " << figure.row;
    EXPECT_TRUE(figure.agrees || !figure.reason.empty()) << figure.table << ": " << figure.row;
  }
}

TEST(PublishedTables, ThePageIsCurrent) {
  std::ifstream in(ZEROLAB_SOURCE_DIR "/docs/published-tables.md");
  std::stringstream page;
  page << in.rdbuf();

  EXPECT_EQ(published_page(all_recomputed(), published_disagreements()), page.str())
      << "write it again: ./zerolab plan --published-tables > docs/published-tables.md";
}

PublishedFigure printed_as(const std::string& published, const std::string& printed) {
  // 2 a parameter of 1.1094 · 10⁹ parameters: 2.2188 GB.
  return {"t",     "r",  published, "GB", "states_item", "psi=1.1094e9 item=parameters",
          printed, true, "",        ""};
}

TEST(PublishedTables, RoundedFiguresAllowHalfAUnitOfTheLastDigitAndTruncatedOnesAWholeUnit) {
  EXPECT_TRUE(recompute(printed_as("2.22", "rounded")).agrees);
  EXPECT_FALSE(recompute(printed_as("2.21", "rounded")).agrees);
  EXPECT_TRUE(recompute(printed_as("2.21", "truncated")).agrees);
  EXPECT_FALSE(recompute(printed_as("2.22", "truncated")).agrees);
  EXPECT_FALSE(recompute(printed_as("2.20", "truncated")).agrees);
}

TEST(PublishedTables, UnknownFormulasArgumentsAndPrintingsAreNamed) {
  PublishedFigure figure = printed_as("2.2", "rounded");
  figure.formula = "state_item";
  EXPECT_THROW(recompute(figure), BadInput);
  figure = printed_as("2.2", "rounded");
  figure.arguments = "psi=1e9x item=parameters";
  EXPECT_THROW(recompute(figure), BadInput);
  EXPECT_THROW(recompute(printed_as("2.2", "guessed")), BadInput);
}

}  // namespace
}  // namespace zerolab
