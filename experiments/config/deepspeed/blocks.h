/// \file
/// From the blocks of a DeepSpeed configuration to ours. Each sets the fields of its block, where
/// the block is there, with DeepSpeed's defaults for keys that are not.
#pragma once

#include "experiments/config/deepspeed/checked_keys.h"
#include "experiments/config/run_config.h"
#include "experiments/config/validate.h"

namespace zerolab {

/// The three sizes of a batch, of which `train` is micro · accumulate · ranks.
struct BatchSizes {
  std::optional<std::int64_t> train, micro, accumulate;
};

/// DeepSpeed's rule (deepspeed/runtime/config.py, _set_batch_related_parameters): one that is
/// missing follows from the others, by a division that must leave no remainder; with only one given
/// nothing is accumulated. \throws BadInput, its sentence begun with `file`.
BatchSizes complete_batch(BatchSizes given, std::int64_t ranks, const std::string& file);

/// \throws BadInput, all of them.
void apply_batch(const CheckedKeys& keys, Overlay& overlay, RunConfig& config);
void apply_training(const CheckedKeys& keys, Overlay& overlay, RunConfig& config);
/// number_checkpoints: into so many parts the blocks of `model` fall.
void apply_checkpoints(const CheckedKeys& keys, Overlay& overlay, const ModelSpec& model,
                       RunConfig& config);
/// Whether `apply_checkpoints` has anything to do.
bool has_checkpoints(const CheckedKeys& keys);
void apply_optimizer(const CheckedKeys& keys, Overlay& overlay, RunConfig& config);
/// After `apply_optimizer`, whose rate it changes.
void apply_scheduler(const CheckedKeys& keys, Overlay& overlay, RunConfig& config);
void apply_precision(const CheckedKeys& keys, Overlay& overlay, RunConfig& config);
void apply_zero(const CheckedKeys& keys, Overlay& overlay, RunConfig& config, Purpose purpose);

}  // namespace zerolab
