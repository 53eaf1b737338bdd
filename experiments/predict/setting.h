/// \file
/// What the formulas of the stages are evaluated on, and the cuts that they speak of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/run_config.h"
#include "experiments/predict/model_uses.h"
#include "stages/comm/volume_formula.h"
#include "stages/memory/category.h"
#include "stages/model/model_factory.h"

namespace zerolab {

/// The types of a recipe's states: in mixed precision parameters and gradients have 16 bits and
/// the optimizer keeps an fp32 copy of the parameters (ZeRO paper, section 3.1).
struct StateTypes {
  DType parameters = DType::kFloat32;
  DType gradients = DType::kFloat32;   ///< where backward adds
  DType travelling = DType::kFloat32;  ///< gradients in a reduction
  DType accumulators = DType::kFloat32;
  bool master_weights = false;
};

/// Micro-batches of a step that visit the same units.
struct TrainingUses {
  std::vector<Use> uses;
  std::int64_t times = 0;  ///< a step
};

/// The letters of the formulas: Ψ the layout's elements, N ranks, K micro-batches.
struct Setting {
  ParameterLayout layout;
  ModelUses uses;                      ///< of a micro-batch that visits all units
  std::vector<TrainingUses> skipping;  ///< micro-batches that bypass a block
  GroupShape group;                    ///< N ranks, how bytes travel, the reduction's order
  int rank = 0;
  int micro_batches = 1;  ///< K
  int reductions = 1;     ///< R, reductions of the gradient a step: K, or 1 in local order
  int accumulators = 0;   ///< A, sums over micro-batches held besides the gradient
  OptimizerSettings optimizer;
  std::int64_t bucket_elements = 1;
  bool overlap = true;
  StateTypes types;
  bool uneven = false;  ///< micro-batches hold unequal numbers of tokens

  /// Bytes of a parameter, and of a gradient: p and g in the formulas.
  std::int64_t p() const { return static_cast<std::int64_t>(size_of(types.parameters)); }
  std::int64_t g() const { return static_cast<std::int64_t>(size_of(types.gradients)); }
  int ranks() const { return group.size(); }
  /// All micro-batches of a step.
  std::vector<TrainingUses> training() const;
};

Setting make_setting(const RunConfig& config, const ModelSpec& model, int rank);

/// \throws BadInput for an unknown stage, or one that cannot accumulate in the configured order.
void check_predictable(const std::string& stage, const RunConfig& config);

/// \throws BadInput for a type that is not known.
StateTypes state_types(const RunConfig& config);

/// A: 0 for K = 1 or local order; 1 running sum; ⌊log₂K⌋ + 1 with reduction tree.
int accumulator_count(const RunConfig& config);

/// Elements of each bucket of DDP, ZeRO-1 and ZeRO-2: the wanted size rounded up to a multiple of
/// 32·N, units back to back, so that only the end of the flat space is padded (Megatron's cut).
/// \throws BadInput for a bucket below one element.
std::vector<std::int64_t> bucket_lengths(const Setting& setting);

/// Elements of each unit as ZeRO-3 cuts it: rounded up to a multiple of 32·N.
std::vector<std::int64_t> unit_lengths(const Setting& setting);

/// Elements of each unit's frozen tensors, cut in the same way over `ranks`.
std::vector<std::int64_t> frozen_lengths(const Setting& setting, int ranks);

/// Frozen elements that each rank of DDP, ZeRO-1 and ZeRO-2 holds: all.
std::int64_t frozen_elements(const Setting& setting);

std::int64_t sum_of(const std::vector<std::int64_t>& lengths);

/// Cuts of one length, counted instead of listed: 10¹³ parameters have millions of buckets.
struct EqualCuts {
  std::int64_t length = 0, count = 0;
};

/// `bucket_lengths`, equal ones counted: the full buckets, then the shorter last one if there is
/// one. \throws BadInput as it does.
std::vector<EqualCuts> equal_buckets(const Setting& setting);

/// Any lengths, equal ones counted, in ascending order.
std::vector<EqualCuts> equal_ones(std::vector<std::int64_t> lengths);

std::int64_t sum_of(const std::vector<EqualCuts>& cuts);

Volume operator*(std::int64_t times, const Volume& volume);

/// Adds `times` calls of a collective on `count` elements (of the full array).
void add_calls(CommLedger::Table& table, const Setting& setting, Traffic traffic, CollectiveOp op,
               DType dtype, std::int64_t count, std::int64_t times = 1);

}  // namespace zerolab
