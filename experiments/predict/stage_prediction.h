/// \file
/// The closed form of each stage: bytes of model states held, bytes sent. One source file a stage.
#pragma once

#include <string>
#include <vector>

#include "experiments/predict/setting.h"
#include "stages/comm/comm_ledger.h"
#include "stages/memory/category.h"

namespace zerolab {

/// What a stage holds for a while besides `lasting`, at one moment of a micro-batch.
struct Moment {
  std::string name;  ///< "backward h.2"
  CategoryBytes bytes{};
};

/// One rank's bytes of model states and their traffic.
struct StagePrediction {
  CategoryBytes lasting{};                   ///< from construction to the end
  std::vector<Moment> training, evaluation;  ///< in order, of one micro-batch
  CommLedger::Table per_step{};              ///< of one training step
  CommLedger::Table per_held_out{};          ///< of one held-out micro-batch
};

StagePrediction predict_ddp(const Setting& setting);
StagePrediction predict_zero1(const Setting& setting);
StagePrediction predict_zero2(const Setting& setting);
StagePrediction predict_zero3(const Setting& setting);

inline std::int64_t& of(CategoryBytes& bytes, Category category) {
  return bytes[static_cast<std::size_t>(category)];
}

/// Adds fp32 optimizer states and accumulators of `elements` each, A accumulators.
void add_states(CategoryBytes& bytes, const Setting& setting, std::int64_t elements);

/// "backward h.2"
std::string moment_name(const Setting& setting, const Use& use);

}  // namespace zerolab
