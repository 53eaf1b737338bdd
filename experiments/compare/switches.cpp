#include "experiments/compare/switches.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "experiments/checks/expected_sum.h"
#include "experiments/predict/setting.h"

namespace zerolab {
namespace {

bool is_open(Reduction reduction) {
  return reduction == Reduction::kRing || reduction == Reduction::kNative;
}

bool narrow(DType type) { return type != DType::kFloat32; }

std::int64_t global_batch(const RunConfig& config) {
  return config.ranks * config.accumulate * config.micro_batch;
}

/// Another order of the sums over ranks, or another split of them into ranks and micro-batches.
void add_reduction(std::vector<Switch>& switches, const RunConfig& a, const RunConfig& b) {
  const bool split_differs = a.ranks != b.ranks || a.accumulate != b.accumulate;
  if (!is_open(a.reduction) && !is_open(b.reduction) && a.reduction == b.reduction &&
      !(split_differs && a.reduction == Reduction::kOrdered)) {
    return;
  }
  const auto order = [&](const RunConfig& config) -> std::string {
    if (config.reduction == Reduction::kRing) {
      return "a ring adds up in an order that follows the cut";
    }
    if (config.reduction == Reduction::kNative) return "the library chooses the order of its sums";
    return "";
  };
  std::string cause = order(a).empty() ? order(b) : order(a);
  if (cause.empty()) {
    cause = split_differs
                ? fmt::format(
                      "{} ranks with {} micro-batches add up in another order than {} with "
                      "{}",
                      b.ranks, b.accumulate, a.ranks, a.accumulate)
                : "the sums over ranks are added in another order";
  }
  const bool tree = split_differs && std::has_single_bit(static_cast<unsigned>(a.ranks)) &&
                    std::has_single_bit(static_cast<unsigned>(b.ranks));
  const Reduction same = tree ? Reduction::kTree : Reduction::kOrdered;
  switches.push_back({fmt::format("--reduction {}", name_of(same)), std::move(cause),
                      Bound::kGradient, [same](RunConfig& config) { config.reduction = same; }});
}

}  // namespace

std::vector<Switch> switches_between(const RunConfig& a, const RunConfig& b) {
  std::vector<Switch> switches;
  const bool several = a.accumulate > 1 || b.accumulate > 1;
  if (several && a.accumulation_order != b.accumulation_order) {
    switches.push_back({"--accumulation-order reduced",
                        "one adds up each rank's micro-batches before it reduces, the other "
                        "reduces each micro-batch",
                        Bound::kGradient, [](RunConfig& config) {
                          config.accumulation_order = AccumulationOrder::kReduced;
                        }});
  }
  add_reduction(switches, a, b);
  if (a.micro_batch != b.micro_batch && global_batch(a) == global_batch(b)) {
    const std::int64_t size = std::min(a.micro_batch, b.micro_batch);
    switches.push_back({fmt::format("--micro-batch {}", size),
                        fmt::format("micro-batches of {} and of {} sequences add up inside their "
                                    "products in different orders",
                                    a.micro_batch, b.micro_batch),
                        Bound::kLoss, [size](RunConfig& config) {
                          config.accumulate =
                              static_cast<int>(config.accumulate * config.micro_batch / size);
                          config.micro_batch = size;
                        }});
  }
  const StateTypes types_a = state_types(a), types_b = state_types(b);
  if (narrow(types_a.travelling) || narrow(types_b.travelling)) {
    const DType type = narrow(types_a.travelling) ? types_a.travelling : types_b.travelling;
    switches.push_back(
        {"--reduce-dtype fp32",
         fmt::format("gradients are rounded to {} before and after each reduction", name_of(type)),
         Bound::kGradient, [](RunConfig& config) { config.reduce_dtype = "fp32"; }});
  }
  if (several && (narrow(types_a.accumulators) || narrow(types_b.accumulators))) {
    const DType type = narrow(types_a.accumulators) ? types_a.accumulators : types_b.accumulators;
    switches.push_back({"--accumulate-dtype fp32",
                        fmt::format("sums over micro-batches are rounded to {}", name_of(type)),
                        Bound::kGradient,
                        [](RunConfig& config) { config.accumulate_dtype = "fp32"; }});
  }
  if (a.optimizer.name == "lamb" && (a.optimizer.lamb_norms == LambNorms::kShard ||
                                     b.optimizer.lamb_norms == LambNorms::kShard)) {
    switches.push_back({"--lamb-norms tensor",
                        "LAMB takes its norms over each rank's shard of a tensor, so every cut is "
                        "another optimizer",
                        Bound::kNone, [](RunConfig& config) {
                          config.optimizer.lamb_norms = LambNorms::kTensor;
                        }});
  }
  return switches;
}

double gradient_bound(const RunConfig& a, const RunConfig& b) {
  const auto alone = [](const RunConfig& config) {
    const StateTypes types = state_types(config);
    return relative_bound(std::int64_t{config.ranks} * config.accumulate,
                          {types.travelling, types.accumulators});
  };
  return alone(a) + alone(b);
}

}  // namespace zerolab
