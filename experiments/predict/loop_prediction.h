/// \file
/// What training needs besides model states, the same in every stage: activations, batches,
/// scalars.
#pragma once

#include "experiments/predict/setting.h"
#include "stages/comm/comm_ledger.h"
#include "stages/memory/category.h"

namespace zerolab {

/// Activations, the model's scratch, the batch on the device, losses, the norm's scalars, and the
/// communicator's staging. Held from the start to the end.
CategoryBytes loop_bytes(const RunConfig& config, const ModelSpec& model, const Setting& setting);

/// Scalars of one step: the losses, with padding also the numbers of tokens that count, and where
/// the gradient is sharded the norm: 28·(N−1) bytes sent.
void add_control_per_step(CommLedger::Table& table, const Setting& setting, bool sharded_gradient);

/// ⌈G/N⌉: held-out micro-batches that each rank runs for one held-out loss over G.
std::int64_t held_out_of_rank(const RunConfig& config);

/// Scalars of one held-out loss.
void add_control_per_evaluation(CommLedger::Table& table, const Setting& setting,
                                const RunConfig& config);

}  // namespace zerolab
