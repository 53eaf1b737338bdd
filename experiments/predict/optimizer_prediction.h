/// \file
/// What an optimizer holds besides states and sends besides gradients, by closed formula.
#pragma once

#include <cstdint>
#include <string>

#include "experiments/predict/setting.h"
#include "stages/comm/comm_ledger.h"

namespace zerolab {

/// fp32 numbers that an optimizer keeps for each parameter. \throws BadInput for an unknown one.
std::vector<Category> optimizer_state_categories(const OptimizerSettings& optimizer);

/// Bytes of category kWorkspace from construction to the end, on the setting's rank.
std::int64_t optimizer_workspace_bytes(const std::string& stage, const Setting& setting);

/// Floating-point operations of Muon's five Newton–Schulz iterations on the setting's rank, which
/// orthogonalise the matrices that it computes: 2s(2mn + s²) each, s the shorter side. 0 for
/// others.
double optimizer_operations(const std::string& stage, const Setting& setting);

/// Its messages of one step, on the setting's rank.
void add_optimizer_per_step(CommLedger::Table& table, const std::string& stage,
                            const Setting& setting);

}  // namespace zerolab
