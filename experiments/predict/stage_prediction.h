/// \file
/// The closed form of each stage: bytes of model states held, bytes sent. One source file a stage.
/// p and g are the bytes of a parameter and of a gradient, 4 in fp32, 2 in mixed precision; what
/// the optimizer keeps is fp32.
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

/// Adds optimizer states, master weights and accumulators of `elements` each, A accumulators.
void add_states(CategoryBytes& bytes, const Setting& setting, std::int64_t elements);

/// Adds the payload of `largest` elements in which gradients travel, where that is not their own
/// type.
void add_payload(CategoryBytes& bytes, const Setting& setting, std::int64_t largest);

/// "backward h.2"
std::string moment_name(const Setting& setting, const Use& use);

}  // namespace zerolab
