/// \file
/// Bytes held and bytes sent by closed formula: separate code from what counts them.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/config/run_config.h"
#include "experiments/predict/stage_prediction.h"
#include "stages/comm/comm_ledger.h"
#include "stages/memory/category.h"
#include "stages/model/model_factory.h"

namespace zerolab {

/// One rank's bytes.
struct Prediction {
  CategoryBytes peak_by_category{};  ///< each category's own peak
  CategoryBytes at_peak{};           ///< by category at the moment of the largest total
  std::int64_t peak_bytes = 0;       ///< without kChecks
  /// When the largest total is reached first: "backward h.2"; empty when it is held all the time.
  std::string peak_moment;
  CommLedger::Table per_step{};        ///< one training step
  CommLedger::Table per_evaluation{};  ///< one held-out loss
};

/// What rank `rank` of a run of `stage` ("zero2") will hold and send. Walks the model's uses and
/// the cuts by the paper's rules; never asks a stage, a device or a communicator. \throws BadInput
/// for an unknown stage or model.
Prediction predict(const std::string& stage, const RunConfig& config, const ModelSpec& model,
                   int rank);

// The parts of a prediction, which plans ask for too: of models that nobody can train, with states
// or activations that others have counted.

/// The stage's closed form. \throws BadInput for an unknown stage.
StagePrediction predict_states(const std::string& stage, const Setting& setting);

/// The memory of a prediction: what `states` and `loop` (loop_prediction.h) hold together, and what
/// the optimizer takes besides. Its tables stay empty.
Prediction predict_memory(const std::string& stage, const RunConfig& config, const Setting& setting,
                          const StagePrediction& states, const CategoryBytes& loop);

/// All collectives of one training step: states, losses, norms, and the optimizer's own.
CommLedger::Table predict_step(const std::string& stage, const Setting& setting,
                               const StagePrediction& states);

}  // namespace zerolab
