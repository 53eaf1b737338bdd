#include "experiments/runner/part_settings.h"

#include "experiments/config/parameter_groups.h"

namespace zerolab {
namespace {

AccumulationShape accumulation_shape(const RunConfig& config, AccumulationOrder order) {
  if (config.accumulate == 1 || order == AccumulationOrder::kLocal) {
    return AccumulationShape::kNone;
  }
  return config.reduction == Reduction::kTree ? AccumulationShape::kTree
                                              : AccumulationShape::kRunning;
}

}  // namespace

StageSettings stage_settings(const RunConfig& config, AccumulationOrder order) {
  StageSettings settings;
  settings.overlap = config.overlap;
  settings.bucket_elements = config.bucket_elements();
  settings.micro_batches = config.accumulate;
  settings.accumulation = accumulation_shape(config, order);
  settings.optimizer = config.optimizer;
  settings.optimizer.adamw_rate =
      static_cast<float>(config.adamw_learning_rate / config.learning_rate);
  settings.optimizer.groups = group_rules(config.groups, config.optimizer.weight_decay);
  return settings;
}

TrainingSettings training_settings(const RunConfig& config, AccumulationOrder order) {
  TrainingSettings settings;
  settings.steps = config.trained_steps();
  settings.micro_batches = config.accumulate;
  settings.order = order;
  settings.schedule = {config.learning_rate, config.warmup_steps, config.steps, 0.1};
  settings.evaluate_every = config.evaluate_every;
  settings.held_out_batches = config.held_out_batches;
  return settings;
}

CommSettings comm_settings(const RunConfig& config) {
  CommSettings settings;
  settings.reduction = config.reduction;
  settings.ranks_per_node = config.ranks_per_node;
  settings.checked = !config.checks.empty();
  settings.timeout_seconds = config.timeout_seconds;
  return settings;
}

}  // namespace zerolab
