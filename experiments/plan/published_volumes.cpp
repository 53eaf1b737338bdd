#include <cmath>

#include "experiments/plan/collective_time.h"
#include "experiments/plan/published_families.h"
#include "experiments/plan/stage_plans.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

/// Passes of a stage over its parameters, of a model so large that padding does not show: the same
/// formulas that runs are held against.
double volume(const FormulaArguments& a) {
  PlanRequest request;
  request.model = model_of_parameters(100'000'000'000);
  request.recipe.run.ranks = static_cast<int>(a.number_or("ranks", 64));
  request.recipe.run.accumulate = static_cast<int>(a.number_or("k", 1));
  request.recipe.run.reduction = Reduction::kRing;
  request.recipe.run.accumulation_order = AccumulationOrder::kLocal;
  request.recipe.run.bucket_mb = 25;
  request.time.cluster.ranks = request.recipe.run.ranks;
  const auto stage = static_cast<int>(a.number("stage"));
  return plan_stage(stage == 0 ? "ddp" : fmt::format("zero{}", stage), request).traffic.passes;
}

/// Over plain data parallelism's two passes.
double over_ddp(const FormulaArguments& a) { return volume(a) / 2; }

/// ZeRO++ (arXiv 2306.10209): int8 weights forward, none backward (they are in the node), int4
/// gradients; each pass in units of M 16-bit elements.
double zeropp(const FormulaArguments& a) {
  const bool on = a.number("on") != 0;
  const double forward = on ? 8.0 / 16 : 1, backward = on ? 0 : 1, gradients = on ? 4.0 / 16 : 1;
  const std::string part = a.text("part");
  if (part == "forward") return forward;
  if (part == "backward") return backward;
  return part == "gradients" ? gradients : forward + backward + gradients;
}

CollectiveOp op_of(const FormulaArguments& a) {
  for (int i = 0; i < kCollectiveOpCount; ++i) {
    if (name_of(static_cast<CollectiveOp>(i)) == a.text("op")) return static_cast<CollectiveOp>(i);
  }
  bad_input("[published] there is no collective '{}'", a.text("op"));
}

double ring_seconds(const FormulaArguments& a, double latency, double bandwidth) {
  Cluster cluster;
  cluster.ranks = static_cast<std::int64_t>(a.number("ranks"));
  cluster.latency.intra = latency;
  cluster.device.intra_bandwidth = bandwidth;
  return collective_seconds(cluster, CollectiveAlgorithm::kRing, op_of(a), 1);
}

/// One byte at one byte a second takes as many seconds as the factor of the bus bandwidth.
double bus_factor(const FormulaArguments& a) { return ring_seconds(a, 0, 1); }
/// A message each second and bytes for nothing.
double ring_steps(const FormulaArguments& a) { return std::round(ring_seconds(a, 1, 1e30)); }

/// GB of one step of 16-bit training, without the ring's factor.
double gb_of_passes(const FormulaArguments& a) { return 2 * volume(a) * a.number("psi") / 1e9; }

/// 6 operations a parameter and token against 2 bytes a parameter and pass.
double tokens_to_hide(const FormulaArguments& a) {
  return a.number("tflops") * 1e12 / (a.number("bandwidth_gb") * 1e9) / 1e3;
}

}  // namespace

FormulaFamily volume_formulas() {
  return {
      {"volume", volume},
      {"volume_over_ddp", over_ddp},
      {"zeropp_volume", zeropp},
      {"bus_factor", bus_factor},
      {"ring_steps", ring_steps},
      {"gb_of_passes", gb_of_passes},
      {"seconds_of_passes",
       [](const Args& a) { return gb_of_passes(a) / a.number("bandwidth_gb"); }},
      {"tokens_to_hide", tokens_to_hide},
  };
}

}  // namespace zerolab
