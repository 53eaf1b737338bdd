/// \file
/// Rules that a configuration must keep before anything is built from it.
#pragma once

#include "experiments/config/run_config.h"
#include "stages/model/model_factory.h"

namespace zerolab {

/// What the configuration is for: a comparison needs at least one step and may leave the order of
/// accumulation to each stage; training may write a model that it has not trained.
enum class Purpose : std::uint8_t { kCompare, kTrain };

/// Ranks of the largest world that can be asked for.
inline constexpr int kLargestWorld = 1024;

/// What must hold before ranks can be started. \throws BadInput
void validate_launch(const RunConfig& config);

/// \throws BadInput with one sentence about the first rule that is broken. Files are not opened.
void validate(const RunConfig& config, const ModelSpec& model, Purpose purpose);

/// \throws BadInput naming the nearest known one unless `name` is among `known`.
void require_known(const char* option, const std::string& name,
                   const std::vector<std::string>& known);

}  // namespace zerolab
