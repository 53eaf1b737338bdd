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

class ParityMatrix : public testing::TestWithParam<int> {};

TEST_P(ParityMatrix, all_stages_equal_ddp_and_the_prediction_on_the_micro_model) {
  int combinations = 0;
  for (const int accumulate : {1, 3}) {
    for (const char* optimizer : {"adamw", "sgd"}) {
      for (const double clip : {0.0, 1.0}) {
        const Combination base{GetParam(), accumulate, optimizer, clip, true, 1.0};
        const StageResult reference = train("ddp", config_of(base));
        for (const bool overlap : {true, false}) {
          for (const double bucket_mb :
               {0.03125, 0.0171}) {  // 8192 elements; 4482 (divides nothing)
            const Combination c{GetParam(), accumulate, optimizer, clip, overlap, bucket_mb};
            SCOPED_TRACE(describe(c));
            expect_all_stages_equal(reference, config_of(c));
            ++combinations;
          }
        }
      }
    }
  }
  std::cout << combinations * stage_names().size() << " runs compared at " << GetParam()
            << " ranks\n";
}
INSTANTIATE_TEST_SUITE_P(Ranks, ParityMatrix, testing::Values(1, 2, 3, 4, 5, 8));

TEST(ParityMatrix, all_stages_equal_ddp_for_the_tied_network) {
  for (const int ranks : {2, 3, 4, 5, 8}) {
    for (const int accumulate : {1, 3}) {
      for (const char* optimizer : {"adamw", "sgd"}) {
        Combination c{ranks, accumulate, optimizer, 1.0, ranks % 2 == 0, 0.011};
        RunConfig config = config_of(c);
        config.model = "tied-mlp";
        SCOPED_TRACE("tied-mlp " + describe(c));
        expect_all_stages_equal(train("ddp", config), config);
      }
    }
  }
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
  const Combination c = pairwise().at(static_cast<std::size_t>(GetParam()));
  RunConfig config = config_of(c);
  config.model = "gpt-tiny";
  config.micro_batch = 1;
  config.sequence = 64;
  config.steps = 10;
  config.evaluate_every = 5;
  config.checks = {"REF"};
  config.poison = false;
  SCOPED_TRACE(describe(c));
  expect_all_stages_equal(train("ddp", config), config);
}
INSTANTIATE_TEST_SUITE_P(Rows, PairwiseOnGptTiny, testing::Range(0, 16));

}  // namespace
}  // namespace zerolab
