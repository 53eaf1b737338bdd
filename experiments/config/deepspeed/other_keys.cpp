// Offloading, what observes a run, and features that are missing. Keys and defaults:
// deepspeed/runtime/zero/offload_config.py, swap_tensor/constants.py, monitor/config.py,
// profiling/config.py, comm/config.py, runtime/config.py.
#include "experiments/config/deepspeed/known_keys.h"

namespace zerolab {
namespace {

using enum JsonKind;
using enum Treatment;

constexpr const char* kNoOffload = "model states stay in the rank's memory; nothing is offloaded";
constexpr const char* kOnlyOffload = "only matters while something is offloaded";
constexpr const char* kOnlyNvme = "only matters while something is offloaded to NVMe";

constexpr KnownKey kOffload[] = {
    {"zero_optimization.offload_param", kBlock, "", kRefused, "a block"},
    KnownKey{"zero_optimization.offload_param.device", kText, "\"none\"", kRefused, kNoOffload}
        .one_of("none|cpu|nvme"),
    {"zero_optimization.offload_param.nvme_path", kText, "", kNoEffect, kOnlyNvme},
    {"zero_optimization.offload_param.buffer_count", kCount, "5", kNoEffect, kOnlyOffload},
    {"zero_optimization.offload_param.buffer_size", kCount, "100000000", kNoEffect, kOnlyOffload},
    {"zero_optimization.offload_param.max_in_cpu", kCount, "1000000000", kNoEffect, kOnlyOffload},
    {"zero_optimization.offload_param.pin_memory", kBool, "true", kNoEffect, kOnlyOffload},
    {"zero_optimization.offload_optimizer", kBlock, "", kRefused, "a block"},
    KnownKey{"zero_optimization.offload_optimizer.device", kText, "\"none\"", kRefused, kNoOffload}
        .one_of("none|cpu|nvme"),
    {"zero_optimization.offload_optimizer.nvme_path", kText, "", kNoEffect, kOnlyNvme},
    {"zero_optimization.offload_optimizer.buffer_count", kCount, "4", kNoEffect, kOnlyOffload},
    {"zero_optimization.offload_optimizer.pin_memory", kBool, "true", kNoEffect, kOnlyOffload},
    {"zero_optimization.offload_optimizer.pipeline_read", kBool, "false", kNoEffect, kOnlyNvme},
    {"zero_optimization.offload_optimizer.pipeline_write", kBool, "false", kNoEffect, kOnlyNvme},
    {"zero_optimization.offload_optimizer.fast_init", kBool, "false", kNoEffect, kOnlyNvme},
    {"zero_optimization.offload_optimizer.ratio", kMagnitude, "1.0", kNoEffect, kOnlyOffload},
    {"zero_optimization.offload_optimizer.super_offload", kBool, "false", kNoEffect, kOnlyOffload},
    {"zero_optimization.offload_optimizer.cpuadam_cores_perc", kMagnitude, "0.8", kNoEffect,
     kOnlyOffload},
    {"zero_optimization.cpu_offload", kBool, "false", kRefused, kNoOffload},
    {"zero_optimization.cpu_offload_param", kBool, "false", kRefused, kNoOffload},
    {"zero_optimization.cpu_offload_use_pin_memory", kBool, "false", kNoEffect, kOnlyOffload},
    {"aio", kBlock, "", kNoEffect, kOnlyNvme},
    {"aio.block_size", kCount, "1048576", kNoEffect, kOnlyNvme},
    {"aio.queue_depth", kCount, "8", kNoEffect, kOnlyNvme},
    {"aio.intra_op_parallelism", kCount, "1", kNoEffect, kOnlyNvme},
    {"aio.thread_count", kCount, "1", kNoEffect, kOnlyNvme},
    {"aio.single_submit", kBool, "false", kNoEffect, kOnlyNvme},
    {"aio.overlap_events", kBool, "true", kNoEffect, kOnlyNvme},
    {"aio.use_gds", kBool, "false", kNoEffect, kOnlyNvme},
};

constexpr const char* kCurves = "curves are in the report and in each stage's steps.jsonl";
constexpr const char* kOfMonitor = "only matters while the monitor is on";
constexpr const char* kCollectives = "every collective is in the report, with its bytes";
constexpr const char* kNoCheckpoints = "zerolab writes no DeepSpeed checkpoints";
constexpr const char* kTimes = "times are in the report and in --trace";
constexpr const char* kNoFlops = "zerolab bench measures speed";

constexpr KnownKey kObservation[] = {
    {"steps_per_print", kPositive, "", kNoted, "progress is shown after every step"},
    {"wall_clock_breakdown", kBool, "false", kNoted, kTimes},
    {"memory_breakdown", kBool, "false", kNoted, "memory is in the report, by category"},
    {"dump_state", kBool, "false", kNoted, "the configuration is in the report"},
    {"log_level", kText, "", kNoEffect, "there is no log"},
    {"timers", kOpenBlock, "", kNoEffect, kTimes},
    {"comms_logger", kBlock, "", kNoted, "a block"},
    {"comms_logger.enabled", kBool, "false", kNoted, kCollectives},
    {"comms_logger.verbose", kBool, "false", kNoEffect, kCollectives},
    {"comms_logger.prof_all", kBool, "true", kNoEffect, kCollectives},
    {"comms_logger.debug", kBool, "false", kNoEffect, kCollectives},
    {"comms_logger.prof_ops", kTexts, "[]", kNoEffect, kCollectives},
    {"flops_profiler", kBlock, "", kNoted, "a block"},
    {"flops_profiler.enabled", kBool, "false", kNoted, kNoFlops},
    {"flops_profiler.recompute_fwd_factor", kMagnitude, "0.0", kNoEffect, kNoFlops},
    {"flops_profiler.profile_step", kCount, "1", kNoEffect, kNoFlops},
    {"flops_profiler.module_depth", kInteger, "-1", kNoEffect, kNoFlops},
    {"flops_profiler.top_modules", kCount, "1", kNoEffect, kNoFlops},
    {"flops_profiler.detailed", kBool, "true", kNoEffect, kNoFlops},
    {"flops_profiler.output_file", kText, "", kNoEffect, kNoFlops},
    {"tensorboard", kBlock, "", kNoted, "a block"},
    {"tensorboard.enabled", kBool, "false", kNoted, kCurves},
    {"tensorboard.output_path", kText, "\"\"", kNoEffect, kOfMonitor},
    {"tensorboard.job_name", kText, "\"DeepSpeedJobName\"", kNoEffect, kOfMonitor},
    {"csv_monitor", kBlock, "", kNoted, "a block"},
    {"csv_monitor.enabled", kBool, "false", kNoted, kCurves},
    {"csv_monitor.output_path", kText, "\"\"", kNoEffect, kOfMonitor},
    {"csv_monitor.job_name", kText, "\"DeepSpeedJobName\"", kNoEffect, kOfMonitor},
    {"wandb", kBlock, "", kNoted, "a block"},
    {"wandb.enabled", kBool, "false", kNoted, kCurves},
    {"wandb.group", kText, "", kNoEffect, kOfMonitor},
    {"wandb.team", kText, "", kNoEffect, kOfMonitor},
    {"wandb.project", kText, "\"deepspeed\"", kNoEffect, kOfMonitor},
    {"comet", kOpenBlock, "", kNoted, kCurves},
    {"checkpoint", kBlock, "", kNoted, "a block"},
    {"checkpoint.tag_validation", kText, "\"WARN\"", kNoEffect, kNoCheckpoints},
    {"checkpoint.load_universal", kBool, "false", kRefused,
     "a universal checkpoint cannot be loaded; --load-weights takes safetensors"},
    {"checkpoint.use_node_local_storage", kBool, "false", kNoted, kNoCheckpoints},
    {"checkpoint.parallel_write", kBlock, "", kNoted, "a block"},
    {"checkpoint.parallel_write.pipeline_stage", kBool, "false", kNoted, kNoCheckpoints},
    {"checkpoint.writer", kOpenBlock, "", kNoted, kNoCheckpoints},
    {"nebula", kOpenBlock, "", kNoted, kNoCheckpoints},
    {"datastates_ckpt", kOpenBlock, "", kNoted, kNoCheckpoints},
};

constexpr KnownKey kFeatures[] = {
    {"amp", kOpenBlock, "", kRefused,
     "Apex's mixed precision is not implemented; use fp16 or bf16"},
    {"torch_autocast", kOpenBlock, "", kRefused,
     "autocasting is not implemented; use fp16 or bf16"},
    {"sparse_attention", kOpenBlock, "", kRefused, "attention is dense"},
    {"compression_training", kOpenBlock, "", kRefused, "compression is not implemented"},
    {"quantize_training", kOpenBlock, "", kRefused, "quantization is not implemented"},
    {"weight_quantization", kOpenBlock, "", kRefused, "quantization is not implemented"},
    {"eigenvalue", kOpenBlock, "", kRefused, "quantization is not implemented"},
    {"progressive_layer_drop", kOpenBlock, "", kRefused, "no layer is dropped"},
    {"curriculum_learning", kOpenBlock, "", kRefused, "the sequence length is fixed; --seq"},
    {"data_efficiency", kOpenBlock, "", kRefused, "data are read in the order of --seed"},
    {"elasticity", kOpenBlock, "", kRefused, "the number of ranks is fixed; --ranks"},
    {"autotuning", kOpenBlock, "", kRefused, "nothing is tuned automatically"},
    {"hybrid_engine", kOpenBlock, "", kRefused, "there is no inference engine"},
    {"tensor_parallel", kOpenBlock, "", kRefused, "there is no tensor parallelism"},
    {"expert_parallel", kOpenBlock, "", kRefused, "there is no expert parallelism"},
    {"use_data_before_expert_parallelism", kBool, "false", kNoEffect,
     "there is no expert parallelism"},
    {"sequence_parallel_size", kPositive, "1", kRefused, "there is no sequence parallelism"},
    {"pipeline", kOpenBlock, "", kNoted, "there is no pipeline parallelism"},
    {"graph_harvesting", kBool, "false", kNoted, "there are no GPU kernels to capture"},
    {"compile", kOpenBlock, "", kNoted, "there is no PyTorch module to compile"},
};

}  // namespace

std::span<const KnownKey> offload_keys() { return kOffload; }
std::span<const KnownKey> observation_keys() { return kObservation; }
std::span<const KnownKey> feature_keys() { return kFeatures; }

}  // namespace zerolab
