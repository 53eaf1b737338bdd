/// \file
/// From a stage's name to a stage.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stages/parallel/stage_parts.h"
#include "stages/stage.h"

namespace zerolab {

/// "ddp", "zero1", "zero2", "zero3", in the order of the lesson.
const std::vector<std::string>& stage_names();

/// Whether the stage may leave the reduction to the last micro-batch (DDP and ZeRO-1; the others
/// have nowhere to keep an unreduced gradient).
bool supports_local_accumulation(const std::string& stage);

/// Whether --bucket-mb means anything to the stage (ZeRO-3 moves units).
bool uses_buckets(const std::string& stage);

using StageFactory = std::function<std::unique_ptr<Stage>(StageParts)>;

/// \throws BadInput naming the nearest known stage.
StageFactory stage_factory(const std::string& stage);

}  // namespace zerolab
