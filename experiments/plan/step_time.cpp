#include "experiments/plan/step_time.h"

#include <algorithm>
#include <array>

#include "experiments/plan/arithmetic.h"

namespace zerolab {
namespace {

struct Period {
  double step = 0, compute = 0, communication = 0;
};

/// The second of two steps: what the first published arrives in it.
Period period(const StepProgram& program) {
  const OperationTimes times = operation_times(program);
  Period result;
  result.step = times.end[program.updates[1]] - times.end[program.updates[0]];
  // Each step has the same operations; those after an update belong to the step that it ended.
  for (const StepOperation& operation : program.operations) {
    (operation.collective ? result.communication : result.compute) += operation.seconds / 2;
  }
  return result;
}

}  // namespace

OperationTimes operation_times(const StepProgram& program) {
  OperationTimes times;
  std::array<double, 2> free{};
  for (const StepOperation& operation : program.operations) {
    double begin = free[operation.stream];
    for (const std::size_t other : operation.waits) begin = std::max(begin, times.end[other]);
    times.begin.push_back(begin);
    times.end.push_back(begin + operation.seconds);
    free[operation.stream] = times.end.back();
  }
  return times;
}

StepTime plan_step_time(const std::string& stage, const Recipe& recipe, const PlannedModel& model,
                        const Setting& setting, const TimeModel& time) {
  const int count = recipe.run.accumulate;
  const int laid_out = std::min(count, kMostMicroBatches);
  const auto of = [&](int micro_batches) {
    return period(step_program(stage, recipe, model, setting, time, micro_batches, 2));
  };
  Period all = of(laid_out);
  if (count > laid_out) {
    // Micro-batches in the middle are all alike.
    const Period fewer = of(laid_out - 1);
    const double more = count - laid_out;
    all.step += more * (all.step - fewer.step);
    all.compute += more * (all.compute - fewer.compute);
    all.communication += more * (all.communication - fewer.communication);
  }
  StepTime result;
  result.step_seconds = all.step;
  result.compute_seconds = all.compute;
  result.communication_seconds = all.communication;
  result.exposed_seconds = std::max(0.0, all.step - all.compute);
  const auto ranks = static_cast<double>(time.cluster.ranks);
  result.tokens_per_second = ranks * static_cast<double>(tokens_of_rank(recipe, model)) / all.step;
  const StepFlops flops = step_flops(recipe, model);
  if (time.cluster.device.peak_flops > 0) {
    result.mfu = flops.model / all.step / time.cluster.device.peak_flops;
    result.hfu = flops.hardware / all.step / time.cluster.device.peak_flops;
  }
  return result;
}

}  // namespace zerolab
