// Figures that papers and manuals print, recomputed by the planner.
#include "experiments/plan/published_tables.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
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

/// How many figures of each table there are to recompute: cells with a formula, and worked numbers.
const std::map<std::string, std::size_t> kFigures = {
    {"ZeRO, figure 1: model states, 7.5B parameters, 64 ranks", 4 + 4},
    {"ZeRO, table 1: model states of one rank", 3 * 6 * 3},  // models, ranks, stages
    {"ZeRO, table 2: largest model of 32 GB devices, 64-way data parallel", 5 * 4},
    {"ZeRO: worked numbers of the text", 14},
    {"Sizes of published models: 12 L h^2", 41},
    {"Communication in passes over the parameters, 64 ranks", 9},
    {"ZeRO++: inter-node communication in units of M", 2 * 4 + 3},
    {"ZeRO-Offload, table 1: bytes a parameter on the device", 4 * 3 + 1},
    {"ZeRO-Infinity, figure 2a: memory of massive models", 3 * 6},
    {"ZeRO-Infinity: efficiency at a bandwidth, 70 TFLOP/s achievable", 11},
    {"Bytes a parameter by whoever counted them", 12},
    {"DeepSpeed estimators: samples of their documentation", 20},
    {"Activation bytes of a layer over s b h (a s / h = 8, t = 8)", 6 + 3},
    {"Korthikanti et al., tables 3 and 5: utilisation on A100", 4 * 3},
    {"Bus bandwidth factors, 8 ranks", 7},
    {"Worked examples", 9}};

TEST(PublishedTables, NoTableHasLostAFigure) {
  std::map<std::string, std::size_t> found;
  std::set<std::string> rows;
  for (const PublishedFigure& figure : published_figures()) {
    ++found[figure.table];
    EXPECT_TRUE(rows.insert(figure.table + figure.row + figure.arguments + figure.formula).second)
        << figure.table << ": " << figure.row << " is there twice";
  }
  EXPECT_EQ(found, kFigures);
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
