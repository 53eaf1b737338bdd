// Larger models than the matrix's: every two settings meet in some run of all stages.
#include "tests/stages/combination.h"
#include "tests/stages/covering_array.h"

namespace zerolab {
namespace {

template <class Values>
int size_of(const Values& values) {
  return static_cast<int>(std::size(values));
}

TEST(CoveringArray, has_every_pair_and_few_rows) {
  for (const std::vector<int>& sizes :
       {std::vector{2, 2}, {3, 2, 2}, {5, 3, 2, 4, 2, 3, 2, 2}, {1, 4, 3}}) {
    std::set<ValuePair> covered;
    const auto rows = covering_array(sizes);
    for (const std::vector<int>& row : rows) {
      for (const ValuePair& pair : pairs_of(row)) covered.insert(pair);
    }
    EXPECT_EQ(covered, all_pairs(sizes));
    std::vector<int> sorted = sizes;
    std::ranges::sort(sorted, std::greater());
    EXPECT_LE(rows.size(), static_cast<std::size_t>(sorted[0] * sorted[1] * 5 / 4 + 1));
  }
}

struct Row {
  Combination combination;
  Cut cut;
};

/// `ranks` fixes the number of ranks; 0 lets the table choose.
std::vector<Row> table(int ranks, bool checkpoints, const std::vector<double>& buckets) {
  const std::vector<int> sizes = {ranks == 0 ? size_of(kRanks) : 1,
                                  size_of(kPrecisions),
                                  size_of(kAccumulations),
                                  size_of(kOptimizers),
                                  size_of(kClips),
                                  checkpoints ? size_of(kCheckpoints) : 1,
                                  size_of(buckets),
                                  2};
  std::vector<Row> rows;
  for (const std::vector<int>& row : covering_array(sizes)) {
    const auto at = [&](std::size_t setting) { return static_cast<std::size_t>(row[setting]); };
    rows.push_back({{ranks == 0 ? kRanks[at(0)] : ranks, kPrecisions[at(1)], kAccumulations[at(2)],
                     kOptimizers[at(3)], kClips[at(4)], kCheckpoints[at(5)]},
                    {buckets[at(6)], row[7] == 1}});
  }
  return rows;
}

/// Trains all stages, and returns how many.
int compare(const RunConfig& config) {
  SCOPED_TRACE(describe(config));
  const StageResult reference = train_reference(config);
  int combinations = 1;
  for (const char* stage : {"zero1", "zero2", "zero3"}) {
    const StageResult result = train(stage, config);
    expect_equal_bits(reference, result);
    expect_predicted(result, config);
    ++combinations;
  }
  return combinations;
}

class PairwiseOnTheTiedNetwork : public testing::TestWithParam<int> {};

TEST_P(PairwiseOnTheTiedNetwork, all_stages_equal_ddp_and_the_prediction) {
  const int ranks = GetParam();
  if (kSanitized && ranks != 3) GTEST_SKIP() << "one odd number is enough under a sanitizer";
  int combinations = 0;
  for (const Row& row : table(ranks, false, {0.03125, 0.0171})) {
    RunConfig config = with_cut(config_of(row.combination), row.cut);
    config.model = "tied-mlp";
    config.steps = 3;
    config.evaluate_every = 3;
    config.guarded = combinations % 16 == 0;
    combinations += compare(config);
    if (HasFailure()) return;
    if (kSanitized && combinations >= 16) break;
  }
  EXPECT_GE(combinations, kSanitized ? 16 : 4 * 3 * 4);
  std::cout << fmt::format("[matrix] tied-mlp on {} ranks: {} combinations in pairs, all equal\n",
                           ranks, combinations);
}
INSTANTIATE_TEST_SUITE_P(Ranks, PairwiseOnTheTiedNetwork, testing::ValuesIn(kRanks));

std::vector<Row> rows_of_gpt_tiny() { return table(0, true, {0.5, 0.1234}); }

class PairwiseOnGptTiny : public testing::TestWithParam<std::size_t> {};

TEST_P(PairwiseOnGptTiny, all_stages_equal_ddp_and_the_prediction) {
  if (kSanitized) GTEST_SKIP() << "sanitizers run the micro model";
  const Row row = rows_of_gpt_tiny().at(GetParam());
  RunConfig config = with_cut(config_of(row.combination), row.cut);
  config.model = "gpt-tiny";
  config.micro_batch = 1;
  config.sequence = 64;
  config.steps = 5;
  config.evaluate_every = 3;
  config.guarded = GetParam() % 4 == 0;
  const int combinations = compare(config);
  std::cout << fmt::format("[matrix] {}: {} combinations in pairs, all equal\n", describe(config),
                           combinations);
}
INSTANTIATE_TEST_SUITE_P(Rows, PairwiseOnGptTiny,
                         testing::Range<std::size_t>(0, rows_of_gpt_tiny().size()));

TEST(ManyRanks, all_stages_equal_ddp_and_the_prediction_on_64) {
  if (kSanitized) GTEST_SKIP() << "64 ranks are too many threads under a sanitizer";
  RunConfig config = with_cut(config_of({64, "fp32", 1, "adamw", 0.25, 0}), {0.03125, true});
  config.steps = 2;
  config.micro_batch = 1;
  config.sequence = 8;
  config.guarded = false;
  compare(config);
}

}  // namespace
}  // namespace zerolab
