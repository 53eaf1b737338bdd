// Every stage has the bits of DDP, and holds and sends what was predicted, in every combination.
#include "tests/stages/training_run.h"

namespace zerolab {
namespace {

struct Combination {
  int ranks, accumulate;
  std::string optimizer;
  double clip;
  bool overlap;
  double bucket_mb;
};

RunConfig config_of(const Combination& c) {
  RunConfig config = test_config(c.ranks, c.accumulate);
  config.optimizer.name = c.optimizer;
  config.clip = c.clip;
  config.overlap = c.overlap;
  config.bucket_mb = c.bucket_mb;
  return config;
}

std::string describe(const Combination& c) {
  return fmt::format("ranks {} accumulate {} {} clip {} overlap {} bucket {} MiB", c.ranks,
                     c.accumulate, c.optimizer, c.clip, c.overlap ? "on" : "off", c.bucket_mb);
}

// Bucket and overlap cannot change the reference, so it is trained once for all of them.
void expect_all_stages_equal(const StageResult& reference, const RunConfig& config) {
  for (const std::string& stage : stage_names()) {
    const StageResult result = train(stage, config);
    expect_equal_bits(reference, result);
    expect_predicted_bytes(result, config);
  }
}

// Trains the reference once for all cuts of it, and returns how many runs were compared.
std::size_t compare_all_cuts(const std::string& model, int ranks) {
  const std::vector<int> accumulations = kSanitized ? std::vector{3} : std::vector{1, 3};
  const std::vector<std::string> optimizers =
      kSanitized ? std::vector<std::string>{"adamw"} : std::vector<std::string>{"adamw", "sgd"};
  const std::vector<double> clips = kSanitized ? std::vector{1.0} : std::vector{0.0, 1.0};
  std::size_t combinations = 0;
  for (const int accumulate : accumulations) {
    for (const std::string& optimizer : optimizers) {
      for (const double clip : clips) {
        RunConfig base = config_of({ranks, accumulate, optimizer, clip, true, 1.0});
        base.model = model;
        base.guarded = false;
        const StageResult reference = train("ddp", base);
        for (const bool overlap : {true, false}) {
          for (const double bucket_mb : {0.03125, 0.0171}) {  // 8192 elements; 4482 divides nothing
            const Combination c{ranks, accumulate, optimizer, clip, overlap, bucket_mb};
            SCOPED_TRACE(model + " " + describe(c));
            RunConfig config = config_of(c);
            config.model = model;
            config.guarded = bucket_mb < 0.02;  // what a bucket's size changes shows in this one
            expect_all_stages_equal(reference, config);
            ++combinations;
          }
        }
      }
    }
  }
  return combinations * stage_names().size();
}

class ParityMatrix : public testing::TestWithParam<int> {};

TEST_P(ParityMatrix, all_stages_equal_ddp_and_the_prediction_on_the_micro_model) {
  if (kSanitized && GetParam() > 3) GTEST_SKIP() << "the corners are enough under a sanitizer";
  std::cout << compare_all_cuts("gpt-micro", GetParam()) << " runs compared at " << GetParam()
            << " ranks\n";
}

TEST_P(ParityMatrix, all_stages_equal_ddp_and_the_prediction_on_the_tied_network) {
  if (kSanitized && GetParam() != 3) GTEST_SKIP() << "the corners are enough under a sanitizer";
  std::cout << compare_all_cuts("tied-mlp", GetParam()) << " runs compared at " << GetParam()
            << " ranks\n";
}
INSTANTIATE_TEST_SUITE_P(Ranks, ParityMatrix, testing::Values(1, 2, 3, 4, 8));

TEST(ParityMatrix, all_stages_equal_ddp_and_the_prediction_on_64_ranks) {
  if (kSanitized) GTEST_SKIP() << "64 ranks are too many threads under a sanitizer";
  RunConfig config = config_of({64, 1, "adamw", 1.0, true, 0.03125});
  config.steps = 2;
  config.micro_batch = 1;
  config.sequence = 8;
  config.guarded = false;
  expect_all_stages_equal(train("ddp", config), config);
}

// Sixteen rows in which every pair of settings occurs together.
std::vector<Combination> pairwise() {
  constexpr int kRanks[] = {5, 2, 2, 8, 4, 2, 3, 5, 4, 3, 2, 8, 8, 3, 5, 4};
  std::vector<Combination> rows;
  for (unsigned i = 0; i < 16; ++i) {
    const auto bit = [i](unsigned b) { return (i >> b & 1U) != 0; };
    const bool parity = bit(0) != (bit(1) != (bit(2) != bit(3)));
    rows.push_back({kRanks[i], bit(0) ? 3 : 1, bit(1) ? "sgd" : "adamw", bit(2) ? 1.0 : 0.0, bit(3),
                    parity ? 0.5 : 0.1234});
  }
  return rows;
}

TEST(PairwiseTable, every_pair_of_settings_occurs) {
  std::set<std::string> pairs;
  for (const Combination& c : pairwise()) {
    const std::string settings[] = {fmt::format("ranks{}", c.ranks),
                                    fmt::format("k{}", c.accumulate),
                                    c.optimizer,
                                    fmt::format("clip{}", c.clip),
                                    fmt::format("overlap{}", c.overlap),
                                    fmt::format("bucket{}", c.bucket_mb)};
    for (int a = 0; a < 6; ++a) {
      for (int b = a + 1; b < 6; ++b) pairs.insert(settings[a] + "+" + settings[b]);
    }
  }
  EXPECT_EQ(pairs.size(), 5 * 5 * 2 + 10 * 4);
}

class PairwiseOnGptTiny : public testing::TestWithParam<int> {};

TEST_P(PairwiseOnGptTiny, all_stages_equal_ddp_and_the_prediction) {
  if (kSanitized) GTEST_SKIP() << "sanitizers run the micro model";
  const Combination c = pairwise().at(static_cast<std::size_t>(GetParam()));
  RunConfig config = config_of(c);
  config.model = "gpt-tiny";
  config.micro_batch = 1;
  config.sequence = 64;
  config.steps = 10;
  config.evaluate_every = 5;
  SCOPED_TRACE(describe(c));
  expect_all_stages_equal(train("ddp", config), config);
}
INSTANTIATE_TEST_SUITE_P(Rows, PairwiseOnGptTiny, testing::Range(0, 16));

}  // namespace
}  // namespace zerolab
