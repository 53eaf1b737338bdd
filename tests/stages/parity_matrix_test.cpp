// The matrix: every stage has the bits of DDP, and holds and sends what was predicted, in every
// combination of ranks, precision, accumulation, optimizer, clipping and checkpointing.
#include <set>

#include "tests/stages/combination.h"

namespace zerolab {
namespace {

// 8192 elements are one tensor of the micro model; 4482 divide nothing.
constexpr std::array<Cut, 4> kCuts = {
    {{0.0171, true}, {0.03125, false}, {0.03125, true}, {0.0171, false}}};

/// Sanitizers have a corner of the matrix: every optimizer in every precision once.
bool is_left_out(std::size_t precision, std::size_t optimizer, const Combination& c) {
  if (!kSanitized) return false;
  return c.accumulate == 1 || c.clip == 0 ||
         static_cast<std::size_t>(c.checkpoint_every) != (precision + optimizer) % 3;
}

class Matrix : public testing::TestWithParam<std::tuple<int, std::size_t>> {
 protected:
  /// Trains all stages. Checkpoints change no bit, so the reference is trained once for all of
  /// them. Every run has another cut than the last, and every 13th closed memory, which is slow.
  void compare(const Combination& c) {
    RunConfig config = config_of(c);
    config.steps = 3;
    config.evaluate_every = 3;
    for (const std::string& stage : stage_names()) {
      const bool is_reference = stage == "ddp" && fresh_;
      // All stages move on to the next cut after each round of stages.
      const auto cut = static_cast<std::size_t>((turn_ + turn_ / 4) % 4);
      config = with_cut(config, kCuts[cut]);
      seen_.emplace(stage, cut);
      config.guarded = turn_ % 13 == 0;
      ++turn_;
      SCOPED_TRACE(stage + ", " + describe(config));
      if (is_reference) {
        reference_ = train_reference(config);
        fresh_ = false;
      } else {
        const StageResult result = train(stage, config);
        expect_equal_bits(reference_, result);
        expect_predicted(result, config);
      }
      ++combinations_;
    }
  }

  StageResult reference_;
  bool fresh_ = true;
  int turn_ = 0, combinations_ = 0;
  std::set<std::pair<std::string, std::size_t>> seen_;  // which stage had which cut
};

TEST_P(Matrix, all_stages_equal_ddp_and_the_prediction_on_the_micro_model) {
  const auto& [ranks, precision] = GetParam();
  if (kSanitized && ranks != 3) GTEST_SKIP() << "one odd number is enough under a sanitizer";
  for (const int accumulate : kAccumulations) {
    for (std::size_t optimizer = 0; optimizer < kOptimizers.size(); ++optimizer) {
      for (const double clip : kClips) {
        fresh_ = true;
        for (const int checkpoint_every : kCheckpoints) {
          const Combination c{ranks, kPrecisions[precision], accumulate, kOptimizers[optimizer],
                              clip,  checkpoint_every};
          if (!is_left_out(precision, optimizer, c)) compare(c);
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_EQ(combinations_, kSanitized ? 16 : 4 * 2 * 4 * 2 * 3);
  EXPECT_EQ(seen_.size(), 4 * kCuts.size()) << "some stage never had some cut";
  std::cout << fmt::format(
      "[matrix] gpt-micro on {} ranks in {}: {} combinations of stage, accumulation, optimizer, "
      "clipping and checkpointing, all equal\n",
      ranks, kPrecisions[precision], combinations_);
}
INSTANTIATE_TEST_SUITE_P(RanksAndPrecisions, Matrix,
                         testing::Combine(testing::ValuesIn(kRanks),
                                          testing::Range<std::size_t>(0, kPrecisions.size())),
                         [](const auto& row) {
                           return fmt::format("{}_{}", std::get<0>(row.param),
                                              kPrecisions[std::get<1>(row.param)]);
                         });

}  // namespace
}  // namespace zerolab
