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

Schedule schedule_of(const RunConfig& config) {
  return {.peak = config.learning_rate,
          .warmup_steps = config.warmup_steps,
          .total_steps = config.schedule_steps > 0 ? config.schedule_steps : config.steps,
          .final_fraction = config.final_lr_fraction,
          .decay = config.decay,
          .warmup_shape = config.warmup_shape,
          .warmup_from = config.warmup_min_lr,
          .count = config.step_count};
}

}  // namespace

Precision precision_of(const RunConfig& config, AccumulationOrder order) {
  Precision precision;
  precision.compute = dtype_from_name(config.precision);
  precision.reduce =
      config.reduce_dtype.empty() ? precision.compute : dtype_from_name(config.reduce_dtype);
  precision.accumulate = dtype_from_name(config.accumulate_dtype);
  precision.local_sums = config.accumulate > 1 && order == AccumulationOrder::kLocal;
  return precision;
}

std::vector<Category> optimizer_states_of(const RunConfig& config) {
  std::vector<Category> states = optimizer_states(config.optimizer);
  if (precision_of(config, config.accumulation_order).has_master_weights()) {
    states.push_back(Category::kMasterWeights);
  }
  return states;
}

StageSettings stage_settings(const RunConfig& config, AccumulationOrder order) {
  StageSettings settings;
  settings.overlap = config.overlap;
  settings.bucket_elements = config.bucket_elements();
  settings.micro_batches = config.accumulate;
  settings.accumulation = accumulation_shape(config, order);
  settings.precision = precision_of(config, order);
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
  if (config.precision == "fp16") settings.loss_scaler = LossScaler(config.loss_scale);
  settings.schedule = schedule_of(config);
  settings.evaluate_every = config.evaluate_every;
  settings.held_out_batches = config.held_out_batches;
  return settings;
}

ModelOptions model_options(const RunConfig& config) {
  return {config.dropout, config.seed, config.checkpoint_every, config.skip_block_every};
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
