// Results of runs that never ran.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "experiments/compare/judge.h"

namespace zerolab::test {

inline const std::vector<std::string> kTensors = {"ln_f.weight", "wte.weight"};

/// `ranks` ranks that agree, `steps` steps with falling losses, fingerprints of two tensors.
inline StageResult made_result(const std::string& name, int ranks = 3, std::int64_t steps = 4) {
  StageResult result;
  result.name = result.stage = name;
  result.ranks.resize(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    RankResult& rank = result.ranks[static_cast<std::size_t>(r)];
    rank.rank = r;
    const auto share = static_cast<std::uint64_t>(r + 1);
    rank.fingerprints.push_back({0, {{}, {share, 2 * share}, {0, 0}}});
    for (std::int64_t step = 1; step <= steps; ++step) {
      StepRecord record;
      record.step = step;
      record.loss = 5.5 - 0.1 * static_cast<double>(step);
      record.grad_norm = 1.0F + 0.5F / static_cast<float>(step);
      record.factor = 0.25F;
      record.learning_rate = 1e-3F;
      record.tokens = 96;
      record.positions = {step * 100 + r * 10};
      rank.steps.push_back(record);
      const std::uint64_t s = share + static_cast<std::uint64_t>(step) * 1000;
      rank.fingerprints.push_back({step, {{s, s + 1}, {s + 2, s + 3}, {s + 4, s + 5}}});
    }
  }
  return result;
}

inline Terms made_terms(int ranks = 3, std::int64_t steps = 4) {
  return {ranks, steps, true, true, kTensors};
}

/// Changes the loss of a step on all ranks.
inline void set_loss(StageResult& result, std::int64_t step, double loss) {
  for (RankResult& rank : result.ranks)
    rank.steps.at(static_cast<std::size_t>(step - 1)).loss = loss;
}

/// The gradient of a step overflowed.
inline void skip(StageResult& result, std::int64_t step) {
  for (RankResult& rank : result.ranks) {
    StepRecord& record = rank.steps.at(static_cast<std::size_t>(step - 1));
    record.skipped = true;
    record.grad_norm = record.factor = std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace zerolab::test
