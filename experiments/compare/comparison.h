/// \file
/// The outcome of comparing the stages: what every report is written from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/config/run_config.h"
#include "experiments/predict/prediction.h"
#include "experiments/runner/results.h"

namespace zerolab {

enum class Verdict : std::uint8_t { kEqual, kExplained, kWithinNoise, kDiverged };
/// "equal", "explained", "within_noise", "diverged".
std::string_view name_of(Verdict verdict);

/// Where two runs first differ in bits.
struct Divergence {
  std::int64_t step = 0;
  std::string phase;  ///< "gradients", "parameters", "optimizer_state"
  std::string tensor;
  int rank = 0;  ///< the owner of the element
  std::int64_t element = 0;
  float reference_value = 0, value = 0;
  std::int64_t ulp = 0;
  std::int64_t differing_elements = 0;  ///< of the tensor
  std::string sentence;
};

/// What the binary ran on: bits may be compared only where `key` matches.
struct Environment {
  std::string key;  ///< binary hash, instruction set, Eigen version
  std::string version, compiler, flags, cpu, os, eigen, mpi, started_at;
};

struct StageComparison {
  StageResult result;
  std::vector<Prediction> predicted;  ///< by rank
  std::string compared_with;          ///< "ddp"; empty for the reference itself
  Verdict verdict = Verdict::kEqual;
  std::string reason;  ///< one sentence behind the verdict
  std::optional<Divergence> first_divergence;
  std::vector<Finding> findings;  ///< of all checks
  /// Differences that a check met and that a named one accounts for, a sentence each.
  std::vector<std::string> explained;
};

struct Comparison {
  RunConfig config;
  Environment environment;
  std::string reference;  ///< "ddp"
  Verdict verdict = Verdict::kEqual;
  std::vector<StageComparison> stages;
  double seconds = 0;
  std::vector<std::string> notices;
};

}  // namespace zerolab
