#include "experiments/compare/localise.h"

#include "experiments/checks/tensor_capture.h"

namespace zerolab {
namespace {

CapturedTensor capture(World& world, const Replay& replay, const CaptureMoment& moment) {
  RunInputs inputs = replay.inputs;
  inputs.config = config_of(inputs.config, replay.run);
  inputs.config.stop_after = std::max<std::int64_t>(moment.step, 1);
  inputs.config.evaluate_every = 0;
  inputs.config.trace = false;
  CapturedTensor captured;
  StageRun run = stage_run(replay.run);
  run.observers = [&](const CheckContext& context) {
    std::vector<std::unique_ptr<TrainObserver>> observers;
    observers.push_back(
        std::make_unique<TensorCapture>(context, moment, world.local_rank(), captured));
    return observers;
  };
  run_stage(world, inputs, run);
  return captured;
}

}  // namespace

Divergence localise(World& world, const Replay& reference, const Replay& candidate,
                    const BitDifference& difference, const ParameterLayout& layout) {
  Divergence known;
  known.step = difference.step;
  known.phase = difference.phase;
  known.rank = -1;
  known.element = -1;
  known.ulp = -1;
  known.sentence = difference.sentence;
  if (difference.tensor < 0) return known;
  known.tensor = layout.tensor(difference.tensor).name;

  const CaptureMoment moment{difference.step, difference.phase, difference.tensor};
  const CapturedTensor a = capture(world, reference, moment);
  const CapturedTensor b = capture(world, candidate, moment);
  if (auto found = locate_difference(a, b, moment, layout)) return *found;
  known.sentence +=
      "; the difference did not come back when both runs were repeated, so it depends "
      "on timing";
  return known;
}

}  // namespace zerolab
