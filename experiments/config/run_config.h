/// \file
/// Everything that a run is told, with the defaults of the main job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stages/comm/communicator.h"
#include "stages/optim/loss_scaler.h"
#include "stages/optim/optimizer.h"
#include "stages/parallel/gradient_accumulator.h"
#include "stages/train/schedule.h"

namespace zerolab {

/// The options of `compare` and `train`. One field an option; defaults are the main job's.
struct RunConfig {
  std::vector<std::string> stages = {"ddp", "zero1", "zero2", "zero3"};
  int ranks = 4;
  std::string comm = "thread";  ///< thread or mpi
  std::string device = "cpu";
  std::string model = "gpt-tiny";
  std::vector<std::string> data;  ///< files; empty: the corpus of the repository
  std::int64_t steps = 60;
  std::int64_t micro_batch = 4;           ///< B, sequences a rank and micro-batch
  int accumulate = 1;                     ///< K
  std::int64_t sequence = 0;              ///< T; 0: the model's maximum
  std::string precision = "fp32";         ///< fp32, bf16 or fp16: of parameters and activations
  std::string accumulate_dtype = "fp32";  ///< of sums over micro-batches
  LossScaleSettings loss_scale;           ///< fp16 only
  double dropout = 0;                     ///< probability that an activation is dropped
  double padding = 0;        ///< sequences end in padding, up to this part of them drawn for each
  int checkpoint_every = 0;  ///< recompute the activations of so many blocks at once; 0: keep all
  int skip_block_every = 0;  ///< bypass one block in every so many micro-batches; 0: never
  std::vector<std::string> groups;  ///< parameter groups, "PATTERN:lr=X,decay=Y"
  std::vector<std::string> frozen;  ///< tensors that are not trained, shell globs over names
  OptimizerSettings optimizer;
  double learning_rate = 1e-3;        ///< the peak
  double adamw_learning_rate = 1e-3;  ///< muon: of what AdamW updates
  std::int64_t warmup_steps = 10;
  WarmupShape warmup_shape = WarmupShape::kLinear;
  double warmup_min_lr = 0;                    ///< the rate that warm-up rises from
  Decay decay = Decay::kCosine;                ///< of the rate, after warm-up
  double final_lr_fraction = 0.1;              ///< of the peak, where the decay ends
  std::int64_t schedule_steps = 0;             ///< the decay ends here; 0: at the last of `steps`
  StepCount step_count = StepCount::kFromOne;  ///< kDeepSpeed: a JSON's scheduler
  double clip = 1.0;                           ///< 0: off
  std::uint64_t seed = 1337;
  Reduction reduction = Reduction::kOrdered;
  std::string reduce_dtype;  ///< of the gradients that travel; empty: that of the precision
  AccumulationOrder accumulation_order = AccumulationOrder::kReduced;
  bool usual_order = false;  ///< each stage in the order in which libraries run it
  bool overlap = true;
  double bucket_mb = 0.25;  ///< MiB of fp32 gradients in a bucket
  int threads = 1;          ///< kernel threads a rank
  int ranks_per_node = 0;   ///< 0: all on one node
  std::int64_t evaluate_every = 20;
  std::int64_t held_out_batches = 8;
  double timeout_seconds = 300;
  std::vector<std::string> checks = {"REF", "XR", "NORM", "INV", "PROV", "COMM", "MEM"};
  std::uint64_t jitter = 0;     ///< 0: none
  bool poison = false;          ///< NaN in freed and fresh memory (REP)
  bool guarded = false;         ///< memory is inaccessible except to declared accesses
  std::int64_t stop_after = 0;  ///< a replay ends after this step of the schedule; 0: all steps
  std::string fault;            ///< empty: none
  std::string load_weights;     ///< safetensors; empty: Philox
  std::string save_weights;
  std::string config_file;  ///< a DeepSpeed JSON
  std::string baseline;     ///< an earlier run's directory
  std::string out;          ///< empty: a fresh runs/NNN
  bool trace = false;

  std::int64_t bucket_elements() const {
    return static_cast<std::int64_t>(bucket_mb * 1024 * 1024 / 4);
  }
  /// Steps that are trained: all of the schedule's but for a replay.
  std::int64_t trained_steps() const { return stop_after > 0 ? stop_after : steps; }
};

}  // namespace zerolab
