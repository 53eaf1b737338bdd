/// \file
/// Figures of a stage that several reports show, each computed in one place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/compare/comparison.h"

namespace zerolab {

/// Seconds of each step on its slowest rank.
std::vector<double> step_seconds(const StageResult& result);

/// 0 for an empty list.
double median(std::vector<double> values);

struct Throughput {
  double step_seconds_median = 0;
  double tokens_per_second = 0;      ///< tokens of a global batch over the median step
  std::int64_t tokens_per_step = 0;  ///< that count, on average
};
Throughput throughput(const StageResult& result);

/// The rank with the largest peak; its index in `ranks`.
std::size_t largest_rank(const StageResult& result);

/// Payload bytes that the rank sent in one training step: training and control, not checks.
double sent_per_step(const RankResult& rank);
std::int64_t predicted_sent_per_step(const Prediction& prediction);
/// The rank that sent most; its index in `ranks`.
std::size_t busiest_rank(const StageResult& result);

/// Sum over operations.
Volume total(const CommLedger::Table& table, Traffic traffic);

/// Whether every rank's bytes equal the formula, category by category. False without predictions.
bool memory_as_predicted(const StageComparison& stage);
/// Whether every rank's volume, operation by operation, equals the formula times the steps.
bool traffic_as_predicted(const StageComparison& stage);

/// The last held-out loss, if there was one.
std::optional<double> final_held_out_loss(const StageResult& result);

/// Bytes of the whole model in the run's parameters, the measure of a full bar: what a rank holds
/// that has all of them, or all ranks' shards together where none has (a stage that gathers).
std::int64_t whole_parameter_bytes(const Comparison& comparison);

/// The checks that said something about the stage: without REF where it was compared with nothing,
/// and of a run that broke off only those that found something.
std::vector<std::string> checks_run(const Comparison& comparison, const StageComparison& stage);

/// Whether the check found something, or is REF and the stage diverged for no other reason.
bool failed(const StageComparison& stage, const std::string& check);

struct CheckCount {
  int passed = 0, run = 0;
};
/// Of the checks that ran, those that did not fail.
CheckCount checks_passed(const Comparison& comparison, const StageComparison& stage);

}  // namespace zerolab
