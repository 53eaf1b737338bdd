#include "experiments/plan/verify.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "experiments/config/validate.h"
#include "experiments/plan/text_table.h"
#include "experiments/plan/units.h"
#include "experiments/report/words.h"
#include "experiments/runner/rank_run.h"
#include "experiments/runner/run_inputs.h"
#include "stages/core/dtype.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr std::int64_t kSteps = 2;

void require_memory(const PlanRequest& request, const StagePlan& plan) {
  const double machine = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                         static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  const double needed = static_cast<double>(plan.memory.peak_bytes) * request.recipe.run.ranks;
  if (needed <= 0.8 * machine) return;
  bad_input(
      "[plan] {} ranks of {} would hold {} together, and this machine has {}; verify a smaller "
      "model or fewer ranks",
      request.recipe.run.ranks, plan.stage, size_text(needed), size_text(machine));
}

RunConfig run_of(const std::string& stage, const PlanRequest& request) {
  RunConfig run = recipe_of(stage, request.recipe).run;
  run.model = request.model.name;
  run.stages = {stage};
  run.steps = kSteps;
  run.evaluate_every = 0;
  run.checks = {};
  // A loss that is not scaled cannot overflow at first: no step is skipped.
  if (run.precision == "fp16") run.loss_scale.fixed = 1;
  return run;
}

StageResult train(const std::string& stage, const RunConfig& run, ModelSpec model) {
  model.dtype = dtype_from_name(run.precision);
  validate(run, model, Purpose::kTrain);
  const RunData data(run, model);
  StageRun stage_run;
  stage_run.name = stage_run.stage = stage;
  stage_run.factory = stage_factory(stage);
  stage_run.order = run.accumulation_order;
  return run_stage(*make_thread_world(run.ranks, run.timeout_seconds),
                   {run, model, &data.batches(), nullptr}, stage_run);
}

/// Keeps of each quantity the rank where plan and run differ most.
class Quantities {
 public:
  Quantities(std::string stage, int rank) : stage_(std::move(stage)), rank_(rank) {}

  void add(std::string name, std::int64_t predicted, std::int64_t measured, bool peak = false) {
    if (predicted == 0 && measured == 0) return;
    found_.push_back({stage_, std::move(name), predicted, measured, rank_, peak});
  }

  void merge_into(std::vector<VerifiedQuantity>& all) {
    for (VerifiedQuantity& quantity : found_) {
      const auto known = std::ranges::find_if(all, [&](const VerifiedQuantity& other) {
        return other.stage == quantity.stage && other.name == quantity.name;
      });
      if (known == all.end()) {
        all.push_back(std::move(quantity));
      } else if (off(quantity) > off(*known)) {
        *known = std::move(quantity);
      }
    }
  }

 private:
  static std::int64_t off(const VerifiedQuantity& q) { return std::abs(q.predicted - q.measured); }

  std::string stage_;
  int rank_;
  std::vector<VerifiedQuantity> found_;
};

void compare_rank(const std::string& stage, const Recipe& recipe, const PlannedModel& model,
                  const RankResult& measured, std::vector<VerifiedQuantity>& all) {
  const Setting setting = plan_setting(recipe, model, measured.rank);
  const MemoryPlan memory = plan_memory(stage, recipe, model, setting);
  const TrafficPlan traffic = plan_traffic(stage, recipe, model, setting);
  Quantities quantities(stage, measured.rank);
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    if (category == Category::kChecks) continue;
    quantities.add(spoken(name_of(category)), memory.peak_by_category[i],
                   measured.peak_by_category[i]);
  }
  quantities.add("largest total", memory.peak_bytes, measured.peak_bytes, true);
  CommLedger::Table planned{};
  for (const TrafficLine& line : traffic.lines) {
    planned[static_cast<std::size_t>(line.traffic)][static_cast<std::size_t>(line.op)] =
        line.volume;
  }
  for (const Traffic kind : {Traffic::kTraining, Traffic::kControl}) {
    for (std::size_t op = 0; op < kCollectiveOpCount; ++op) {
      const auto k = static_cast<std::size_t>(kind);
      const Volume& p = planned[k][op];
      const Volume& m = measured.training_volume[k][op];
      const std::string name = fmt::format("{}{}", spoken(name_of(static_cast<CollectiveOp>(op))),
                                           kind == Traffic::kControl ? " of scalars" : "");
      quantities.add(name + ", calls", kSteps * p.calls, m.calls);
      quantities.add(name + ", sent inside nodes", kSteps * p.sent_intra, m.sent_intra);
      quantities.add(name + ", sent between nodes", kSteps * p.sent_inter, m.sent_inter);
      quantities.add(name + ", received", kSteps * p.received(), m.received());
    }
  }
  quantities.merge_into(all);
}

}  // namespace

void require_verifiable(const PlanRequest& request) {
  const Recipe& recipe = request.recipe;
  if (!request.model.runnable) {
    bad_input(
        "[plan] --verify trains a model, and {} is only a size; give --model, or --layers and "
        "--hidden",
        request.model.name);
  }
  if (recipe.accounting != Accounting::kMeasured) {
    bad_input("[plan] --verify measures what runs here hold; leave --accounting {} out",
              name_of(recipe.accounting));
  }
  if (recipe.activations != Activations::kHere) {
    bad_input(
        "[plan] --verify measures the activations of runs here, not published ones; give "
        "--activations here, and --checkpoint-every instead of --recompute");
  }
  if (recipe.run.ranks > kMostVerifiedRanks) {
    bad_input("[plan] --verify runs all ranks in this process; give at most {} instead of {}",
              kMostVerifiedRanks, recipe.run.ranks);
  }
}

bool VerifiedQuantity::agrees() const {
  if (!peak) return predicted == measured;
  return std::abs(static_cast<double>(predicted - measured)) <=
         kPeakTolerance * static_cast<double>(measured);
}

bool Verification::agrees() const {
  return std::ranges::all_of(quantities, &VerifiedQuantity::agrees);
}

Verification verify_plan(const PlanRequest& request,
                         const std::function<void(const std::string&)>& progress) {
  require_verifiable(request);
  Verification verification;
  for (const StagePlan& plan : plan_stages(request)) {
    require_memory(request, plan);
    if (progress) progress(plan.stage);
    Recipe recipe = recipe_of(plan.stage, request.recipe);
    recipe.run = run_of(plan.stage, request);
    const StageResult result = train(plan.stage, recipe.run, request.model.spec);
    for (const RankResult& rank : result.ranks) {
      compare_rank(plan.stage, recipe, request.model, rank, verification.quantities);
    }
  }
  return verification;
}

std::string verification_text(const Verification& verification) {
  std::string text, stage;
  TextTable table(
      {"measured in two steps, of the rank that is farthest off", "planned", "measured", ""});
  for (const VerifiedQuantity& quantity : verification.quantities) {
    if (quantity.stage != stage) table.add({quantity.stage});
    stage = quantity.stage;
    const bool exact = quantity.predicted == quantity.measured;
    const std::string verdict =
        exact ? "equal"
              : fmt::format("{:+.2f} % on rank {}",
                            100.0 * static_cast<double>(quantity.predicted - quantity.measured) /
                                static_cast<double>(std::max<std::int64_t>(1, quantity.measured)),
                            quantity.rank);
    table.add(
        {"  " + quantity.name, grouped(quantity.predicted), grouped(quantity.measured), verdict});
  }
  return table.text() + (verification.agrees() ? "\nThe plan is what the run does.\n"
                                               : "\nThe plan is NOT what the run does.\n");
}

}  // namespace zerolab
