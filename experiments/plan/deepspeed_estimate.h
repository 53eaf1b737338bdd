/// \file
/// DeepSpeed's memory estimators, formula by formula.
#pragma once

#include <cstdint>

namespace zerolab {

/// What `estimate_zero2_model_states_mem_needs` and `estimate_zero3_…` are told.
struct EstimatorInput {
  int stage = 3;                   ///< 2 or 3
  double parameters = 0;           ///< P
  double largest_layer = 0;        ///< L, stage 3 only
  std::int64_t gpus_per_node = 1;  ///< n
  std::int64_t nodes = 1;
  bool offload_parameters = false;  ///< looked at with `offload_optimizer` at stage 3 only
  bool offload_optimizer = false;
  bool zero_init = true;  ///< stage 3: the model is built sharded
};

/// Host memory is multiplied by it ("additional_buffer_factor").
inline constexpr double kAdditionalBufferFactor = 1.5;

struct Estimate {
  double gpu_bytes = 0;  ///< a device
  double cpu_bytes = 0;  ///< a node's host memory
};

/// As the code of commit edaa7221 computes them (deepspeed/runtime/zero/stage_1_and_2.py,
/// stage3.py), N = n · nodes:
///   stage 2  gpu 2P + 18P/N, host 4nP · 1.5; optimizer offloaded: gpu 2P, host max(4N, 16)P · 1.5
///   stage 3  gpu 4L + 18P/N, host 4nL · 1.5 (4nP · 1.5 without zero_init);
///            optimizer offloaded: gpu 4L + 2P/N, host 16P/nodes · 1.5;
///            parameters too: gpu 4L, host 18P/nodes · 1.5; without zero_init at least 4nP · 1.5
/// \throws BadInput for another stage, which no estimator of theirs covers.
Estimate deepspeed_estimate(const EstimatorInput& input);

/// The formula that their documentation's stage 2 sample was printed from: gpu 4P + 16P/N.
double documented_zero2_gpu_bytes(double parameters, double ranks);

}  // namespace zerolab
