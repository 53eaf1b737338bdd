/// \file
/// An earlier run that a comparison is held against.
#pragma once

#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/judge.h"
#include "experiments/diff/stored_run.h"

namespace zerolab {

/// `--baseline DIR`. Where the environment key matches, every stage must have the bits of the
/// baseline's stage of the same name; elsewhere its losses must be within the bound of
/// docs/rounding-bound.md.
class Baseline {
 public:
  /// \throws BadInput when the directory cannot be read, has none of the stages, or was made by a
  /// run that trains something else, naming the option that differs.
  Baseline(const std::string& directory, const RunConfig& config);

  bool same_bits_expected(const Environment& environment) const {
    return environment.key == environment_key_;
  }
  /// Lowers the verdict of every stage that does not agree and says why. `clean`: runs that differ
  /// by rounding in every operation, the reference among them; not read where bits are expected.
  void judge(Comparison& comparison, const Terms& terms,
             const std::vector<std::vector<StepRecord>>& clean) const;

 private:
  std::string judge_stage(const StageResult& result, const StoredStage& stored, bool bits,
                          const Terms& terms,
                          const std::vector<std::vector<StepRecord>>& clean) const;

  std::string directory_;
  std::string environment_key_;
  std::vector<StoredStage> stages_;
};

}  // namespace zerolab
