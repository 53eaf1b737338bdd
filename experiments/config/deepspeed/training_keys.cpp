// Batch, training, optimizer and scheduler. Keys and defaults: deepspeed/runtime/constants.py,
// config.py, lr_schedules.py, deepspeed/ops/, docs/_pages/config-json.md.
#include "experiments/config/deepspeed/known_keys.h"

namespace zerolab {
namespace {

using enum JsonKind;
using enum Treatment;

constexpr KnownKey kBatch[] = {
    {"train_batch_size", kPositive, "", kHonoured,
     "equals micro-batch × accumulation × ranks; the one of the three that is absent follows"},
    {"train_micro_batch_size_per_gpu", kPositive, "", kHonoured, "--micro-batch"},
    {"gradient_accumulation_steps", kPositive, "", kHonoured, "--accumulate"},
    {"managed_gradient_accumulation", kBool, "true", kRefused,
     "there is no client code that could own the boundary"},
};

constexpr KnownKey kTraining[] = {
    {"gradient_clipping", kMagnitude, "1.0", kHonoured, "--clip; 0 turns it off"},
    KnownKey{"communication_data_type", kText, "", kHonoured, "--reduce-dtype"}.one_of(
        "fp16|bf16|fp32"),
    {"data_types", kBlock, "", kHonoured, "a block"},
    KnownKey{"data_types.grad_accum_dtype", kText, "", kHonoured, "--accumulate-dtype"}.one_of(
        "fp32|bf16|fp16"),
    KnownKey{"data_types.param_dtype", kText, "", kHonoured,
             "must be the precision that fp16 and bf16 choose"}
        .one_of("fp32|bf16|fp16"),
    KnownKey{"data_types.buffer_dtype", kText, "", kNoted, "the models have no buffers"}.one_of(
        "fp32|bf16|fp16"),
    {"activation_checkpointing", kBlock, "", kHonoured, "a block"},
    {"activation_checkpointing.number_checkpoints", kPositive, "", kHonoured,
     "the blocks of the model are recomputed in this many parts"},
    {"activation_checkpointing.partition_activations", kBool, "false", kNoted,
     "there is no model parallelism that activations could be partitioned over"},
    KnownKey{"activation_checkpointing.contiguous_memory_optimization", kBool, "false", kNoted,
             "activations are always allocated once, back to back"}
        .idle_at("true"),
    {"activation_checkpointing.cpu_checkpointing", kBool, "false", kNoted,
     "the ranks compute on the cpu, where activations are anyway"},
    {"activation_checkpointing.synchronize_checkpoint_boundary", kBool, "false", kNoted,
     "it only serves profiling on a GPU"},
    {"activation_checkpointing.profile", kBool, "false", kNoted,
     "the report has every rank's memory over time"},
    KnownKey{"gradient_allreduce_op", kText, "\"mean\"", kRefused,
             "the gradient is the mean over the global batch"}
        .one_of("mean|sum"),
    {"prescale_gradients", kBool, "false", kRefused,
     "gradients are summed first and divided once, which rounds otherwise"},
    {"gradient_predivide_factor", kNumber, "1.0", kRefused,
     "gradients are summed first and divided once, which rounds otherwise"},
    {"sparse_gradients", kBool, "false", kNoted,
     "embedding gradients travel dense; the sums are the same"},
    KnownKey{"dataloader_drop_last", kBool, "false", kNoted,
             "an incomplete batch is never trained on"}
        .idle_at("true"),
    {"vocabulary_size", kPositive, "", kNoted, "the model has its own; --model"},
    {"disable_allgather", kBool, "false", kNoted, "parameters are always gathered by all-gather"},
    KnownKey{"seq_parallel_communication_data_type", kText, "\"fp32\"", kNoted,
             "there is no sequence parallelism"}
        .one_of("fp16|bf16|fp32"),
    KnownKey{"seq_parallel_comm_data_type", kText, "\"fp32\"", kNoted,
             "there is no sequence parallelism"}
        .one_of("fp16|bf16|fp32"),
};

constexpr const char* kUnbounded =
    "LAMB's trust ratio has no bounds, as in You et al. (2020), algorithm 2";

constexpr KnownKey kOptimizer[] = {
    {"optimizer", kBlock, "", kHonoured, "a block; absent, the options hold"},
    KnownKey{"optimizer.type", kText, "", kHonoured,
             "--optimizer; Adam means AdamW, as in DeepSpeed"}
        .one_of("Adam|AdamW|SGD|Lamb|Muon",
                "OneBitAdam|OneBitLamb|ZeroOneAdam|Adagrad|Lion|MuAdam|MuAdamW|MuSGD"),
    {"optimizer.legacy_fusion", kBool, "false", kNoted, "there are no fused GPU optimizers"},
    {"optimizer.params", kBlock, "", kHonoured, "a block; each optimizer has keys of its own"},
    {"optimizer.params.lr", kMagnitude, "0.001", kHonoured, "--lr"},
    KnownKey{"optimizer.params.betas", kNumbers, "[0.9, 0.999]", kHonoured, "as beta1 and beta2"}
        .of("Adam|AdamW|Lamb|Muon"),
    KnownKey{"optimizer.params.eps", kMagnitude, "1e-08", kHonoured, "as epsilon"}.of(
        "Adam|AdamW|Lamb|Muon"),
    {"optimizer.params.weight_decay", kMagnitude, "0.0", kHonoured,
     "--weight-decay; on matrices, as training scripts group their parameters"},
    KnownKey{"optimizer.params.momentum", kMagnitude, "0.0", kHonoured, "Muon: 0.95 by default"}.of(
        "SGD|Muon"),
    KnownKey{"optimizer.params.adam_w_mode", kBool, "true", kHonoured,
             "false (L2) is refused unless weight_decay is 0, which makes both the same"}
        .of("Adam|AdamW|Muon"),
    KnownKey{"optimizer.params.torch_adam", kBool, "false", kNoted,
             "there is one implementation, which is tested against PyTorch's"}
        .of("Adam|AdamW|Muon"),
    KnownKey{"optimizer.params.bias_correction", kBool, "true", kRefused,
             "the moments are always corrected for their start at 0"}
        .of("Adam|AdamW|Lamb"),
    KnownKey{"optimizer.params.amsgrad", kBool, "false", kRefused, "AMSGrad is not implemented"}.of(
        "Adam|AdamW|Lamb"),
    KnownKey{"optimizer.params.dampening", kNumber, "0", kRefused, "SGD is without dampening"}.of(
        "SGD"),
    KnownKey{"optimizer.params.nesterov", kBool, "false", kRefused,
             "SGD is without Nesterov's momentum"}
        .of("SGD"),
    KnownKey{"optimizer.params.max_coeff", kNumber, "10.0", kNoted, kUnbounded}.idle_at("null").of(
        "Lamb"),
    KnownKey{"optimizer.params.min_coeff", kNumber, "0.01", kNoted, kUnbounded}.idle_at("null").of(
        "Lamb"),
    KnownKey{"optimizer.params.eps_inside_sqrt", kBool, "false", kRefused,
             "epsilon is added to the square root"}
        .of("Lamb"),
    KnownKey{"optimizer.params.muon_lr", kMagnitude, "", kHonoured,
             "--lr, of hidden matrices; lr where it is absent"}
        .of("Muon"),
    KnownKey{"optimizer.params.adam_lr", kMagnitude, "", kHonoured,
             "--muon-adamw-lr, of all the others; lr where it is absent"}
        .of("Muon"),
    KnownKey{"optimizer.params.ns_method", kText, "\"gram\"", kNoted,
             "Newton-Schulz is iterated in its standard form"}
        .idle_at("\"standard\"")
        .one_of("gram|standard")
        .of("Muon"),
    KnownKey{"optimizer.params.per_head_muon", kBool, "false", kRefused,
             "Muon orthogonalizes whole matrices"}
        .of("Muon"),
    {"optimizer.params.max_grad_norm", kMagnitude, "", kRefused,
     "DeepSpeed does not take it either; write gradient_clipping"},
    {"zero_allow_untested_optimizer", kBool, "false", kNoted,
     "the optimizers here are tested with every stage"},
    {"zero_force_ds_cpu_optimizer", kBool, "true", kNoted,
     "there is one implementation of each optimizer"},
};

constexpr KnownKey kScheduler[] = {
    {"scheduler", kBlock, "", kHonoured, "a block; absent, --schedule holds"},
    KnownKey{"scheduler.type", kText, "", kHonoured,
             "--schedule constant, linear, cosine, counted as DeepSpeed counts steps"}
        .one_of("WarmupLR|WarmupDecayLR|WarmupCosineLR", "OneCycle|LRRangeTest"),
    {"scheduler.params", kBlock, "", kHonoured, "a block; each type has keys of its own"},
    KnownKey{"scheduler.params.warmup_min_lr", kMagnitude, "0.0", kHonoured,
             "--warmup-min-lr; a linear decay ends there, too"}
        .of("WarmupLR|WarmupDecayLR"),
    KnownKey{"scheduler.params.warmup_max_lr", kMagnitude, "", kHonoured,
             "--lr; absent, WarmupLR takes the optimizer's lr and WarmupDecayLR 0.001"}
        .of("WarmupLR|WarmupDecayLR"),
    {"scheduler.params.warmup_num_steps", kPositive, "1000", kHonoured, "--warmup"},
    KnownKey{"scheduler.params.warmup_type", kText, "\"log\"", kHonoured, "--warmup-shape"}.one_of(
        "log|linear"),
    KnownKey{"scheduler.params.total_num_steps", kPositive, "", kHonoured,
             "--schedule-steps; absent: --steps"}
        .of("WarmupDecayLR|WarmupCosineLR"),
    KnownKey{"scheduler.params.warmup_min_ratio", kMagnitude, "0.0", kHonoured,
             "--warmup-min-lr, as part of lr"}
        .of("WarmupCosineLR"),
    KnownKey{"scheduler.params.cos_min_ratio", kMagnitude, "0.0001", kHonoured,
             "--final-lr-fraction"}
        .of("WarmupCosineLR"),
    {"scheduler.params.last_batch_iteration", kInteger, "-1", kRefused,
     "training starts at the first step"},
};

}  // namespace

std::span<const KnownKey> batch_keys() { return kBatch; }
std::span<const KnownKey> training_keys() { return kTraining; }
std::span<const KnownKey> optimizer_keys() { return kOptimizer; }
std::span<const KnownKey> scheduler_keys() { return kScheduler; }

}  // namespace zerolab
