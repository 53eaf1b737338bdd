// Precision and ZeRO. Keys and defaults: deepspeed/runtime/precision_config.py, zero/config.py,
// zero/offload_config.py, swap_tensor/constants.py.
#include "experiments/config/deepspeed/known_keys.h"

namespace zerolab {
namespace {

using enum JsonKind;
using enum Treatment;

constexpr const char* kImmediate = "a gradient is added up as soon as it has been reduced";
constexpr const char* kOverflow =
    "a step whose gradient is not finite is skipped in every precision";
constexpr const char* kMaster = "master weights and their gradients are fp32";
constexpr const char* kStates = "optimizer states are fp32";

constexpr KnownKey kPrecision[] = {
    {"fp16", kBlock, "", kHonoured, "a block; its other keys act where enabled is true"},
    {"fp16.enabled", kBool, "false", kHonoured, "--precision fp16"},
    {"fp16.auto_cast", kBool, "false", kNoted, "inputs are tokens, which have no precision"},
    {"fp16.loss_scale", kMagnitude, "0", kHonoured, "--loss-scale; 0: dynamic"},
    {"fp16.initial_scale_power", kCount, "16", kHonoured, "the dynamic scale starts at 2^n"},
    {"fp16.loss_scale_window", kPositive, "1000", kHonoured, "good steps until the scale doubles"},
    {"fp16.hysteresis", kPositive, "2", kHonoured, "overflows until the scale halves"},
    {"fp16.consecutive_hysteresis", kBool, "false", kHonoured,
     "every good step forgives the overflows before it"},
    {"fp16.min_loss_scale", kMagnitude, "1", kHonoured, "the scale never falls below it"},
    {"fp16.fp16_master_weights_and_grads", kBool, "false", kRefused, kMaster},
    {"fp16.fused_mode", kBool, "true", kNoEffect, "there are no fused GPU optimizers"},
    {"bf16", kBlock, "", kHonoured, "a block; its other keys act where enabled is true"},
    {"bf16.enabled", kBool, "false", kHonoured, "--precision bf16"},
    KnownKey{"bf16.immediate_grad_update", kBool, "false", kNoted, kImmediate}.idle_at("true"),
    {"bf16.check_grad_overflow", kBool, "true", kNoted, kOverflow},
    {"bf16.check_overflow", kBool, "false", kNoEffect, kOverflow},
    {"bf16.bf16_master_weights_and_grads", kBool, "false", kRefused, kMaster},
    {"bf16.bf16_optimizer_states", kBool, "false", kRefused, kStates},
    {"bfloat16", kBlock, "", kHonoured, "an older name of bf16"},
    {"bfloat16.enabled", kBool, "false", kHonoured, "--precision bf16"},
    KnownKey{"bfloat16.immediate_grad_update", kBool, "false", kNoted, kImmediate}.idle_at("true"),
    {"bfloat16.check_grad_overflow", kBool, "true", kNoted, kOverflow},
    {"bfloat16.check_overflow", kBool, "false", kNoEffect, kOverflow},
    {"bfloat16.bf16_master_weights_and_grads", kBool, "false", kRefused, kMaster},
    {"bfloat16.bf16_optimizer_states", kBool, "false", kRefused, kStates},
};

constexpr const char* kReleased =
    "a unit is released after its use, unless the next use is its own";
constexpr const char* kUnitsAreGathered = "each unit is gathered by one all-gather";
constexpr const char* kNoZeroPlusPlus = "ZeRO++ is not implemented";
constexpr const char* kNoMics = "MiCS is not implemented";

constexpr KnownKey kZero[] = {
    {"zero_optimization", kBlock, "", kHonoured, "a block; absent, the options hold"},
    {"zero_optimization.stage", kCount, "0", kHonoured,
     "train: --stage (0: ddp); compare: ddp and this stage (0: all stages)"},
    {"zero_optimization.reduce_bucket_size", kPositive, "500000000", kHonoured,
     "--bucket-mb; in elements, 4 bytes each"},
    {"zero_optimization.overlap_comm", kBool, "", kHonoured, "--overlap; absent: on at stage 3"},
    {"zero_optimization.contiguous_gradients", kBool, "true", kNoted,
     "gradients always lie in contiguous buffers"},
    {"zero_optimization.reduce_scatter", kBool, "true", kNoted,
     "the ZeRO stages always reduce-scatter"},
    KnownKey{"zero_optimization.use_multi_rank_bucket_allreduce", kBool, "true", kNoted,
             "a bucket is reduce-scattered, which moves half the bytes of an all-reduce"}
        .idle_at("false"),
    {"zero_optimization.allgather_partitions", kBool, "true", kNoted,
     "parameters are always gathered by all-gather"},
    KnownKey{"zero_optimization.allgather_bucket_size", kCount, "500000000", kNoted,
             "parameters are gathered in the buckets of reduce_bucket_size"}
        .idle_at("null"),
    {"zero_optimization.round_robin_gradients", kBool, "false", kNoted,
     "it spreads copies to the host, of which there are none"},
    KnownKey{"zero_optimization.sub_group_size", kCount, "1000000000", kNoted,
             "a rank updates each of its slices at once"}
        .idle_at("null"),
    KnownKey{"zero_optimization.stage3_prefetch_bucket_size", kCount, "50000000", kNoted,
             "the next unit is gathered ahead, whatever its size"}
        .idle_at("null"),
    KnownKey{"zero_optimization.stage3_param_persistence_threshold", kCount, "100000", kNoted,
             "small parameters are partitioned like all others"}
        .idle_at("0"),
    KnownKey{"zero_optimization.stage3_model_persistence_threshold", kCount, "9223372036854775807",
             kNoted, "small parameters are partitioned like all others"}
        .idle_at("0"),
    KnownKey{"zero_optimization.stage3_max_live_parameters", kCount, "1000000000", kNoted,
             kReleased}
        .idle_at("null"),
    KnownKey{"zero_optimization.stage3_max_reuse_distance", kCount, "1000000000", kNoted, kReleased}
        .idle_at("null"),
    {"zero_optimization.stage3_module_granularity_threshold", kCount, "0", kNoted,
     "the unit is always the transformer block"},
    {"zero_optimization.stage3_use_all_reduce_for_fetch_params", kBool, "false", kNoted,
     kUnitsAreGathered},
    {"zero_optimization.stage3_allgather_sequential", kBool, "false", kNoted, kUnitsAreGathered},
    {"zero_optimization.stage3_partition_stream_chunk_size", kCount, "0", kNoted,
     "weights are drawn where they are owned; no rank ever cuts up a full one"},
    {"zero_optimization.stage3_gather_16bit_weights_on_model_save", kBool, "false", kNoEffect,
     "--save-weights always writes whole tensors"},
    {"zero_optimization.stage3_gather_fp16_weights_on_model_save", kBool, "false", kNoEffect,
     "--save-weights always writes whole tensors"},
    {"zero_optimization.load_from_fp32_weights", kBool, "true", kNoted,
     "--load-weights always gives the fp32 weights"},
    {"zero_optimization.elastic_checkpoint", kBool, "false", kNoted,
     "weights can be loaded at any number of ranks"},
    {"zero_optimization.ignore_unused_parameters", kBool, "true", kNoted,
     "a parameter that a micro-batch does not use has a gradient of 0"},
    {"zero_optimization.legacy_stage1", kBool, "false", kNoted,
     "there is one implementation of each stage"},
    {"zero_optimization.memory_efficient_linear", kBool, "true", kNoEffect,
     "it is about PyTorch's modules"},
    {"zero_optimization.pipeline_loading_checkpoint", kBool, "false", kNoEffect,
     "it is about loading PyTorch's modules"},
    {"zero_optimization.override_module_apply", kBool, "true", kNoEffect,
     "it is about PyTorch's modules"},
    {"zero_optimization.log_trace_cache_warnings", kBool, "false", kNoEffect,
     "the order of uses is known in advance; nothing is traced"},
    {"zero_optimization.enable_sanity_checks", kBool, "false", kNoted,
     "the checks here are chosen with --check"},
    {"zero_optimization.save_muon_momentum_buffer_in_memory", kBool, "false", kNoEffect,
     "nothing is offloaded"},
    {"zero_optimization.leaf_module", kOpenBlock, "", kNoted,
     "the unit is always the transformer block"},
    {"zero_optimization.zero_hpz_partition_size", kCount, "1", kRefused, kNoZeroPlusPlus},
    {"zero_optimization.zero_quantized_weights", kBool, "false", kRefused, kNoZeroPlusPlus},
    {"zero_optimization.zero_quantized_nontrainable_weights", kBool, "false", kRefused,
     kNoZeroPlusPlus},
    {"zero_optimization.zero_quantized_gradients", kBool, "false", kRefused, kNoZeroPlusPlus},
    {"zero_optimization.zeropp_loco_param", kOpenBlock, "", kRefused, kNoZeroPlusPlus},
    {"zero_optimization.mics_shard_size", kInteger, "-1", kRefused, kNoMics},
    {"zero_optimization.mics_hierarchical_params_gather", kBool, "false", kRefused, kNoMics},
    {"zero_optimization.zenflow", kOpenBlock, "", kRefused, "ZenFlow is not implemented"},
};

}  // namespace

std::span<const KnownKey> precision_keys() { return kPrecision; }
std::span<const KnownKey> zero_keys() { return kZero; }

}  // namespace zerolab
