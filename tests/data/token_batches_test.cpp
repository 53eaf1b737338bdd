#include "stages/data/token_batches.h"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>
#include <set>

#include "stages/core/error.h"
#include "tests/data/data_files.h"

namespace zerolab {
namespace {

std::vector<std::int32_t> tokens_of(const std::vector<std::byte>& bytes) {
  std::vector<std::int32_t> tokens(bytes.size() / 4);
  std::memcpy(tokens.data(), bytes.data(), bytes.size());
  return tokens;
}

/// Token i of the data is i: every batch tells where it was read.
class CountingData : public testing::Test {
 protected:
  static std::string counting_file(std::size_t tokens) {
    std::vector<std::uint16_t> values(tokens);
    std::iota(values.begin(), values.end(), std::uint16_t{0});
    return bin_file(values);
  }

  TokenBatches batches(std::int64_t batch, std::int64_t time, std::int64_t micro_batches,
                       std::uint64_t seed = 1) const {
    return {source_, {batch, time, micro_batches, seed}};
  }

  DataFiles files_;
  const TokenSource source_{{files_.add("count.bin", counting_file(1000))}, 65536};
};

/// Positions of a whole step: micro-batch by micro-batch.
std::vector<std::int64_t> step_positions(const TokenBatches& batches, std::int64_t step,
                                         std::int64_t micro_batches) {
  std::vector<std::int64_t> positions;
  HostBatch batch;
  for (std::int64_t g = 0; g < micro_batches; ++g) {
    batches.training(step, g, batch);
    positions.insert(positions.end(), batch.positions.begin(), batch.positions.end());
  }
  return positions;
}

TEST_F(CountingData, TargetsAreTheInputsOneTokenLater) {
  HostBatch batch;
  batches(3, 7, 2).training(1, 1, batch);
  const std::vector<std::int32_t> inputs = tokens_of(batch.inputs),
                                  targets = tokens_of(batch.targets);
  ASSERT_EQ(inputs.size(), 21U);
  ASSERT_EQ(batch.positions.size(), 3U);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(inputs[i], batch.positions[i / 7] + static_cast<std::int64_t>(i % 7));
    EXPECT_EQ(targets[i], inputs[i] + 1);
  }
}

TEST_F(CountingData, AGlobalBatchIsTheSameForEveryShareOfIt) {
  // 12 sequences a step: 12 micro-batches of 1, 4 of 3, 1 of 12.
  for (const std::int64_t step : {1, 2, 5, 60}) {
    const auto expected = step_positions(batches(1, 7, 12), step, 12);
    EXPECT_EQ(step_positions(batches(3, 7, 4), step, 4), expected) << "step " << step;
    EXPECT_EQ(step_positions(batches(12, 7, 1), step, 1), expected) << "step " << step;
  }
}

TEST_F(CountingData, APassReadsDisjointWindowsOfTheTrainingPart) {
  const TokenBatches drawn = batches(2, 7, 5);
  EXPECT_EQ(drawn.windows(), 899 / 7);
  EXPECT_EQ(drawn.steps_per_pass(), 128 / 10);
  std::set<std::int64_t> begins;
  for (std::int64_t step = 1; step <= drawn.steps_per_pass(); ++step) {
    for (const std::int64_t position : step_positions(drawn, step, 5)) {
      EXPECT_EQ(position % 7, 0);
      EXPECT_LE(position + 7, 899);
      EXPECT_TRUE(begins.insert(position).second) << position << " came twice";
    }
  }
}

TEST_F(CountingData, PassesAndSeedsHaveOrdersOfTheirOwn) {
  const TokenBatches drawn = batches(2, 7, 5, 1);
  const auto first = step_positions(drawn, 1, 5);
  EXPECT_NE(step_positions(drawn, 2, 5), first);
  EXPECT_NE(step_positions(drawn, 1 + drawn.steps_per_pass(), 5), first);
  EXPECT_NE(step_positions(batches(2, 7, 5, 2), 1, 5), first);
  EXPECT_EQ(step_positions(batches(2, 7, 5, 1), 1, 5), first);
}

TEST_F(CountingData, AGlobalBatchLargerThanTheDataRepeatsWindowsEvenly) {
  const TokenBatches drawn = batches(16, 100, 2);  // 8 windows, 32 sequences
  std::map<std::int64_t, int> visits;
  for (const std::int64_t position : step_positions(drawn, 3, 2)) ++visits[position];
  EXPECT_EQ(visits.size(), 8U);
  for (const auto& [position, count] : visits) EXPECT_EQ(count, 4) << position;
}

TEST_F(CountingData, HeldOutWindowsComeInOrderFromTheLastTenth) {
  const TokenBatches drawn = batches(2, 7, 5);  // 100 tokens, 14 windows
  ASSERT_EQ(drawn.held_out_count(), 7);
  HostBatch batch;
  for (std::int64_t index = 0; index < 7; ++index) {
    drawn.held_out(index, batch);
    EXPECT_THAT(batch.positions, testing::ElementsAre(900 + 14 * index, 907 + 14 * index));
    EXPECT_EQ(tokens_of(batch.inputs).front(), 900 + 14 * index);
  }
  EXPECT_LE(tokens_of(batch.targets).back(), 999);
}

TEST_F(CountingData, TooFewHeldOutWindowsRepeatAndNoneAtAllIsSaid) {
  HostBatch batch;
  const TokenBatches few = batches(4, 40, 1);  // 2 windows
  ASSERT_EQ(few.held_out_count(), 1);
  few.held_out(0, batch);
  EXPECT_THAT(batch.positions, testing::ElementsAre(900, 940, 900, 940));
  EXPECT_EQ(batches(4, 100, 1).held_out_count(), 0);
}

TEST_F(CountingData, TheLongestSequenceLeavesOneWindow) {
  const TokenBatches drawn = batches(1, 899, 1);
  EXPECT_EQ(drawn.windows(), 1);
  HostBatch batch;
  drawn.training(9, 0, batch);
  EXPECT_EQ(tokens_of(batch.targets).back(), 899);
}

TEST_F(CountingData, ASequenceLongerThanTheDataIsRefused) {
  EXPECT_THAT([&] { batches(1, 900, 1); },
              testing::ThrowsMessage<BadInput>(
                  testing::HasSubstr("has 900 tokens; sequences of 900 need 901: give more data")));
}

TEST_F(CountingData, ExtentsOfZeroAreRefused) {
  EXPECT_THROW(batches(0, 7, 1), BadInput);
  EXPECT_THROW(batches(1, 0, 1), BadInput);
  EXPECT_THROW(batches(1, 7, 0), BadInput);
}

}  // namespace
}  // namespace zerolab
