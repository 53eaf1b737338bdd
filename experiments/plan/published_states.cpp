#include "experiments/plan/accounting.h"
#include "experiments/plan/deepspeed_estimate.h"
#include "experiments/plan/published_families.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr double kGiga = 1e9;
constexpr double kGiB = 1 << 30, kMiB = 1 << 20;

Accounting accounting_of(const FormulaArguments& a) {
  const std::string name = a.text("accounting");
  for (int i = 0; i < kAccountingCount; ++i) {
    if (name_of(static_cast<Accounting>(i)) == name) return static_cast<Accounting>(i);
  }
  bad_input("[published] there is no accounting '{}'", name);
}

std::string stage_of(const FormulaArguments& a) {
  const auto number = static_cast<int>(a.number_or("stage", 0));
  return number == 0 ? "ddp" : fmt::format("zero{}", number);
}

std::vector<StateItem> items_of(const FormulaArguments& a) {
  Recipe recipe;
  recipe.run.precision = a.text_or("precision", "fp16");
  recipe.accounting = accounting_of(a);
  return state_items(recipe, stage_of(a));
}

double per_parameter(const FormulaArguments& a) {
  return bytes_per_parameter(items_of(a), static_cast<int>(a.number_or("stage", 0)),
                             static_cast<std::int64_t>(a.number_or("ranks", 1)));
}

double states(const FormulaArguments& a) { return a.number("psi") * per_parameter(a) / kGiga; }

/// In 10⁹ parameters; model parallelism divides every device's share by its degree.
double largest_model(const FormulaArguments& a) {
  return a.number("memory_gb") * a.number("mp") / per_parameter(a);
}

/// One of mixed precision's items, GB.
double states_item(const FormulaArguments& a) {
  Recipe recipe;
  recipe.run.precision = "fp16";
  recipe.accounting = Accounting::kZero;
  double bytes = 0;
  for (const StateItem& item : state_items(recipe, "ddp")) {
    if (name_of(item.category) == a.text("item")) bytes += item.bytes;
  }
  return bytes * a.number("psi") / kGiga;
}

/// What stage 1 shards, GB: K = 12.
double sharded_by_stage_one(const FormulaArguments& a) {
  Recipe recipe;
  recipe.run.precision = "fp16";
  recipe.accounting = Accounting::kZero;
  double bytes = 0;
  for (const StateItem& item : state_items(recipe, "zero1")) {
    if (item.sharded_from == 1) bytes += item.bytes;
  }
  return bytes * a.number("psi") / a.number("ranks") / kGiga;
}

/// What a distributed optimizer keeps whole (stage 1), or divides. The estimators of stages 2 and 3
/// say themselves what they divide.
double split(const FormulaArguments& a, bool sharded) {
  const auto stage = static_cast<int>(a.number_or("stage", 1));
  double bytes = 0;
  Recipe recipe;
  recipe.run.precision = a.text_or("precision", "fp16");
  recipe.accounting = accounting_of(a);
  for (const StateItem& item : state_items(recipe, fmt::format("zero{}", stage))) {
    if ((stage >= item.sharded_from) == sharded) bytes += item.bytes;
  }
  return bytes;
}

Estimate estimate(const FormulaArguments& a) {
  EstimatorInput input;
  input.stage = static_cast<int>(a.number("stage"));
  input.parameters = a.number("p");
  input.largest_layer = a.number_or("l", 0);
  input.gpus_per_node = static_cast<std::int64_t>(a.number("n"));
  input.nodes = static_cast<std::int64_t>(a.number("nodes"));
  input.offload_optimizer = a.number_or("optimizer", 0) != 0;
  input.offload_parameters = a.number_or("parameters", 0) != 0;
  input.zero_init = a.number_or("init", 1) != 0;
  return deepspeed_estimate(input);
}

double divisor(const FormulaArguments& a) { return a.text("divisor") == "mib" ? kMiB : kGiB; }

/// ZeRO-Offload's split of 2 p16 + 2 g16 + 12 of the update: what stays on the device.
double offload_device(const FormulaArguments& a) {
  return 2 * a.number("p16") + 2 * a.number("g16") + 12 * a.number("update");
}

/// The gradient goes down where the host keeps or uses it; back comes the gradient, or, where the
/// host updates, the parameter.
double offload_traffic(const FormulaArguments& a) {
  const bool on_device = a.number("g16") != 0 && a.number("update") != 0;
  return on_device ? 0 : 2 + 2;
}

/// hpZ keeps a second fp16 copy inside each node: 16/N + 2/P bytes a parameter.
double hpz_extra(const FormulaArguments& a) { return 2 / a.number("node"); }
double hpz_states(const FormulaArguments& a) { return 16 / a.number("ranks") + hpz_extra(a); }

}  // namespace

FormulaFamily state_formulas() {
  return {
      {"states", states},
      {"states_per_parameter", per_parameter},
      {"states_item", states_item},
      {"optimizer_states", sharded_by_stage_one},
      {"largest_model", largest_model},
      {"sharded_per_parameter", [](const Args& a) { return split(a, true); }},
      {"replicated_per_parameter", [](const Args& a) { return split(a, false); }},
      {"deepspeed_gpu", [](const Args& a) { return estimate(a).gpu_bytes / divisor(a); }},
      {"deepspeed_cpu", [](const Args& a) { return estimate(a).cpu_bytes / divisor(a); }},
      {"deepspeed_documented_gpu",
       [](const Args& a) {
         return documented_zero2_gpu_bytes(a.number("p"), a.number("n")) / kGiB;
       }},
      {"offload_device", offload_device},
      {"offload_reduction", [](const Args& a) { return 16 / offload_device(a); }},
      {"offload_traffic", offload_traffic},
      {"hpz_extra", [](const Args& a) { return a.number("psi") * hpz_extra(a) / kGiga; }},
      {"hpz_over_zero3", [](const Args& a) { return hpz_states(a) / (16 / a.number("ranks")); }},
      {"hpz_below_ddp", [](const Args& a) { return 16 / hpz_states(a); }},
  };
}

}  // namespace zerolab
