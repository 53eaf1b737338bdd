// The blocks "optimizer" and "scheduler".
#include <algorithm>
#include <cctype>

#include "experiments/config/deepspeed/blocks.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

float fraction(const CheckedKeys& keys, const char* path, double value) {
  if (value >= 0 && value < 1) return static_cast<float>(value);
  keys.reject(path, "give numbers of at least 0 and below 1");
}

void apply_betas(const CheckedKeys& keys, Overlay& overlay, OptimizerSettings& optimizer) {
  constexpr const char* kBetas = "optimizer.params.betas";
  constexpr const char* kEpsilon = "optimizer.params.eps";
  const auto betas = keys.get<std::vector<double>>(kBetas);
  if (betas.size() != 2) keys.reject(kBetas, "give two numbers");
  overlay.set("--beta1", optimizer.beta1, fraction(keys, kBetas, betas[0]), kBetas);
  overlay.set("--beta2", optimizer.beta2, fraction(keys, kBetas, betas[1]), kBetas);
  overlay.set("--epsilon", optimizer.epsilon, static_cast<float>(keys.get<double>(kEpsilon)),
              kEpsilon);
}

void apply_momentum(const CheckedKeys& keys, Overlay& overlay, const std::string& type,
                    OptimizerSettings& optimizer) {
  constexpr const char* kMomentum = "optimizer.params.momentum";
  constexpr double kOfMuon = 0.95;  // DeepSpeed's default there
  const double momentum = type == "Muon" ? keys.given<double>(kMomentum).value_or(kOfMuon)
                                         : keys.get<double>(kMomentum);
  const bool muon = type == "Muon";
  overlay.set(muon ? "--muon-momentum" : "--momentum",
              muon ? optimizer.muon_momentum : optimizer.momentum,
              fraction(keys, kMomentum, momentum), kMomentum);
}

/// L2 regularization is part of the gradient and so of the moments; weight decay is not.
void require_weight_decay(const CheckedKeys& keys, const std::string& type, float weight_decay) {
  constexpr const char* kMode = "optimizer.params.adam_w_mode";
  const bool optional = type == "Adam" || type == "Muon";
  if (!optional || keys.get<bool>(kMode) || weight_decay == 0) return;
  keys.reject(
      kMode, "L2 regularization is not implemented; set weight_decay to 0, or adam_w_mode to true");
}

std::string type_of(const CheckedKeys& keys, const std::string& block) {
  if (const auto type = keys.given<std::string>(block + ".type")) return *type;
  keys.reject(block + ".type", "give the block a type, or take it out");
}

std::string ours(std::string type) {
  if (type == "Adam" || type == "AdamW") return "adamw";
  std::ranges::transform(type, type.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type;
}

Decay decay_of(const std::string& type) {
  if (type == "WarmupLR") return Decay::kConstant;
  return type == "WarmupDecayLR" ? Decay::kLinear : Decay::kCosine;
}

/// One of Muon's two rates, or the one that all optimizers have; and the key that says it.
std::pair<double, const char*> rate_of(const CheckedKeys& keys, const char* own) {
  constexpr const char* kOfAll = "optimizer.params.lr";
  if (const auto rate = keys.given<double>(own)) return {*rate, own};
  return {keys.get<double>(kOfAll), kOfAll};
}

/// WarmupLR and WarmupDecayLR have rates of their own, between which they move.
void apply_rates(const CheckedKeys& keys, Overlay& overlay, const std::string& type,
                 RunConfig& config) {
  constexpr const char* kMost = "scheduler.params.warmup_max_lr";
  constexpr const char* kLeast = "scheduler.params.warmup_min_lr";
  constexpr double kPeakOfWarmupDecay = 0.001;
  std::optional<double> peak = keys.given<double>(kMost);
  if (!peak && type == "WarmupDecayLR") peak = kPeakOfWarmupDecay;
  const auto of_optimizer = keys.given<double>("optimizer.params.lr");
  if (peak && of_optimizer && *of_optimizer != *peak && !overlay.given("--lr")) {
    overlay.say(fmt::format("{} takes the learning rate to {}, not to the optimizer's {}", type,
                            *peak, *of_optimizer));
  }
  if (peak) {
    overlay.set("--lr", config.learning_rate, *peak, kMost);
    // The scheduler sets the rate of every group, of Muon's two as well.
    if (config.optimizer.name == "muon") {
      overlay.set("--muon-adamw-lr", config.adamw_learning_rate, *peak, kMost);
    }
  }
  overlay.set("--warmup-min-lr", config.warmup_min_lr, keys.get<double>(kLeast), kLeast);
  if (type == "WarmupDecayLR" && config.learning_rate > 0) {
    overlay.set("--final-lr-fraction", config.final_lr_fraction,
                config.warmup_min_lr / config.learning_rate, kLeast);
  }
}

/// WarmupCosineLR moves between parts of the optimizer's rate.
void apply_ratios(const CheckedKeys& keys, Overlay& overlay, RunConfig& config) {
  constexpr const char* kLeast = "scheduler.params.warmup_min_ratio";
  constexpr const char* kLast = "scheduler.params.cos_min_ratio";
  overlay.set("--warmup-min-lr", config.warmup_min_lr,
              keys.get<double>(kLeast) * config.learning_rate, kLeast);
  overlay.set("--final-lr-fraction", config.final_lr_fraction, keys.get<double>(kLast), kLast);
}

}  // namespace

void apply_optimizer(const CheckedKeys& keys, Overlay& overlay, RunConfig& config) {
  if (!keys.has("optimizer")) return;
  const std::string type = type_of(keys, "optimizer");
  OptimizerSettings& optimizer = config.optimizer;
  overlay.set("--optimizer", optimizer.name, ours(type), "optimizer.type");
  const auto [rate, key] = rate_of(keys, "optimizer.params.muon_lr");
  overlay.set("--lr", config.learning_rate, rate, key);
  if (type == "Muon") {
    const auto [adamw_rate, adamw_key] = rate_of(keys, "optimizer.params.adam_lr");
    overlay.set("--muon-adamw-lr", config.adamw_learning_rate, adamw_rate, adamw_key);
  }
  constexpr const char* kDecay = "optimizer.params.weight_decay";
  overlay.set("--weight-decay", optimizer.weight_decay,
              static_cast<float>(keys.get<double>(kDecay)), kDecay);
  if (type != "SGD") apply_betas(keys, overlay, optimizer);
  if (type == "SGD" || type == "Muon") apply_momentum(keys, overlay, type, optimizer);
  require_weight_decay(keys, type, optimizer.weight_decay);
  if (optimizer.name == "lamb") {
    overlay.say(
        "LAMB's trust ratio has no bounds here, as in You et al. (2020), algorithm 2; DeepSpeed "
        "keeps it between min_coeff and max_coeff");
  }
}

void apply_scheduler(const CheckedKeys& keys, Overlay& overlay, RunConfig& config) {
  if (!keys.has("scheduler")) {
    if (config.decay != Decay::kConstant && !overlay.given("--schedule")) {
      overlay.say(fmt::format(
          "{} has no scheduler, so that DeepSpeed would keep the learning rate constant; here "
          "--schedule {} holds",
          overlay.file(), name_of(config.decay)));
    }
    return;
  }
  const std::string type = type_of(keys, "scheduler");
  overlay.set("--schedule", config.decay, decay_of(type), "scheduler.type",
              [](Decay decay) { return name_of(decay); });
  // A schedule that was typed is ours, step by step.
  if (!overlay.given("--schedule")) config.step_count = StepCount::kDeepSpeed;
  constexpr const char* kSteps = "scheduler.params.warmup_num_steps";
  overlay.set("--warmup", config.warmup_steps, keys.get<std::int64_t>(kSteps), kSteps);
  constexpr const char* kShape = "scheduler.params.warmup_type";
  const WarmupShape shape =
      keys.get<std::string>(kShape) == "log" ? WarmupShape::kLog : WarmupShape::kLinear;
  overlay.set("--warmup-shape", config.warmup_shape, shape, kShape,
              [](WarmupShape s) { return name_of(s); });
  constexpr const char* kTotal = "scheduler.params.total_num_steps";
  if (const auto total = keys.given<std::int64_t>(kTotal)) {
    overlay.set("--schedule-steps", config.schedule_steps, *total, kTotal);
  }
  if (type == "WarmupCosineLR") {
    apply_ratios(keys, overlay, config);
  } else {
    apply_rates(keys, overlay, type, config);
  }
}

}  // namespace zerolab
