#include "stages/data/padded_batches.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "stages/core/error.h"
#include "stages/data/token_batches.h"
#include "tests/data/data_files.h"

namespace zerolab {
namespace {

std::vector<std::int32_t> tokens_of(const std::vector<std::byte>& bytes) {
  std::vector<std::int32_t> tokens(bytes.size() / 4);
  std::memcpy(tokens.data(), bytes.data(), bytes.size());
  return tokens;
}

class Padded : public testing::Test {
 protected:
  PaddedBatches batches(std::int64_t batch, std::int64_t time, std::int64_t micro_batches,
                        double part) const {
    return {
        std::make_unique<TokenBatches>(source_, TokenBatchSettings{batch, time, micro_batches, 1}),
        {batch, part, 1}};
  }

  DataFiles files_;
  const TokenSource source_{{files_.add("text.txt", std::string(4000, 'x'))}, 256};
};

/// How many targets of each row count; fails where one follows that does not.
std::vector<std::int64_t> lengths(const HostBatch& batch, std::size_t time) {
  const std::vector<std::int32_t> targets = tokens_of(batch.targets);
  std::vector<std::int64_t> all;
  for (std::size_t row = 0; row < targets.size(); row += time) {
    std::size_t valid = 0;
    while (valid < time && targets[row + valid] >= 0) ++valid;
    for (std::size_t i = valid; i < time; ++i) EXPECT_EQ(targets[row + i], -1);
    all.push_back(static_cast<std::int64_t>(valid));
  }
  return all;
}

TEST_F(Padded, SequencesKeepTheirFirstTargetsAndAllInputs) {
  const PaddedBatches padded = batches(8, 10, 2, 0.5);
  HostBatch batch;
  std::set<std::int64_t> seen;
  for (std::int64_t step = 1; step <= 20; ++step) {
    padded.training(step, 1, batch);
    for (const std::int64_t length : lengths(batch, 10)) seen.insert(length);
    EXPECT_EQ(tokens_of(batch.inputs), std::vector<std::int32_t>(80, 'x'));
  }
  EXPECT_EQ(seen, (std::set<std::int64_t>{5, 6, 7, 8, 9, 10})) << "T − ⌊P·T⌋ to T";
}

TEST_F(Padded, CountsAreThoseOfTheBatchItself) {
  const PaddedBatches padded = batches(3, 7, 4, 1);
  HostBatch batch;
  const auto sum = [&] {
    std::int64_t all = 0;
    for (const std::int64_t length : lengths(batch, 7)) all += length;
    return all;
  };
  for (std::int64_t g = 0; g < 4; ++g) {
    padded.training(2, g, batch);
    EXPECT_EQ(padded.valid_targets(2, g), sum());
    padded.held_out(g, batch);
    EXPECT_EQ(padded.valid_held_out(g), sum());
  }
}

TEST_F(Padded, LengthsBelongToTheSequenceHoweverTheStepIsCut) {
  HostBatch batch;
  std::vector<std::int64_t> ones, threes;
  const PaddedBatches by_one = batches(1, 7, 6, 1), by_three = batches(3, 7, 2, 1);
  for (std::int64_t g = 0; g < 6; ++g) {
    by_one.training(4, g, batch);
    ones.push_back(lengths(batch, 7)[0]);
  }
  for (std::int64_t g = 0; g < 2; ++g) {
    by_three.training(4, g, batch);
    for (const std::int64_t length : lengths(batch, 7)) threes.push_back(length);
  }
  EXPECT_EQ(ones, threes);
}

TEST_F(Padded, RefusesAPartThatIsNone) {
  EXPECT_THROW(batches(1, 7, 1, 1.5), BadInput);
  EXPECT_THROW(batches(1, 7, 1, -0.1), BadInput);
}

}  // namespace
}  // namespace zerolab
