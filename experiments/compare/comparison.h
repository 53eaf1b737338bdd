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

/// How far from the reference a right run may be that rounds differently (docs/rounding-bound.md).
struct NoiseFloor {
  int clean_runs = 0;             ///< the reference again, its sums in other orders
  double factor = 0;              ///< that the spread of those runs is multiplied with
  std::vector<double> loss;       ///< by step: the largest distance allowed
  std::vector<double> grad_norm;  ///< the same of the gradient norm
  /// The same of runs whose sums are off by their whole rounding bound; empty where there is none.
  std::vector<double> loss_bound, grad_norm_bound;
  /// Of one element of the reduced gradient, relative to the sum of its terms' magnitudes; empty
  /// where so many roundings have no bound.
  std::optional<double> gradient_bound;
};

struct Comparison {
  RunConfig config;
  Environment environment;
  std::string reference;  ///< "ddp"
  Verdict verdict = Verdict::kEqual;
  std::vector<StageComparison> stages;
  std::optional<NoiseFloor> noise_floor;  ///< where an order is open, and in 16 bits
  double seconds = 0;
  std::vector<std::string> notices;
};

}  // namespace zerolab
