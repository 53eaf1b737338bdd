#include "experiments/config/deepspeed/deepspeed_config.h"

#include "experiments/config/deepspeed/blocks.h"
#include "experiments/config/deepspeed/json_file.h"

namespace zerolab {

std::vector<std::string> apply_deepspeed_config(RunConfig& config, Purpose purpose,
                                                const GivenOptions& given) {
  Overlay overlay(config.config_file, given);
  const CheckedKeys keys(read_config_file(config.config_file), overlay);
  apply_batch(keys, overlay, config);
  apply_training(keys, overlay, config);
  if (has_checkpoints(keys)) apply_checkpoints(keys, overlay, parse_model(config.model), config);
  apply_precision(keys, overlay, config);
  apply_optimizer(keys, overlay, config);
  apply_scheduler(keys, overlay, config);
  apply_zero(keys, overlay, config, purpose);
  return overlay.take_notices();
}

}  // namespace zerolab
