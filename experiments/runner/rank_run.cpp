#include "experiments/runner/rank_run.h"

#include "experiments/config/parameter_groups.h"
#include "experiments/runner/drain_while_unwinding.h"
#include "experiments/runner/ledger_recorder.h"
#include "experiments/runner/part_settings.h"
#include "experiments/runner/run_inputs.h"
#include "experiments/runner/watchers.h"
#include "stages/device/cpu/cpu_device.h"
#include "stages/kernels/cpu/cpu_kernels.h"
#include "stages/kernels/widening_kernels.h"
#include "stages/train/training_loop.h"

namespace zerolab {
namespace {

class StepRecorder final : public TrainObserver {
 public:
  explicit StepRecorder(RankResult& result) : result_(result) {}
  void step_ended(const StepRecord& record, Stage&) override { result_.steps.push_back(record); }

 private:
  RankResult& result_;
};

}  // namespace

RankResult run_rank(RankContext& ranks, const RunInputs& inputs, const StageRun& run) {
  const RunConfig& config = inputs.config;
  const CleanParts clean;
  const Fault& parts = inputs.fault ? *inputs.fault : clean;
  const int rank = ranks.rank();

  // The house, from the ground up; destroyed in the opposite order.
  Watchers watchers(config, rank);
  const auto kernels = parts.kernels(make_cpu_kernels(config.threads), rank);
  const auto device =
      parts.device(make_cpu_device({watchers.observers(), config.poison, config.guarded}), rank);
  const auto compute = device->create_stream("compute");
  const auto second = config.overlap ? device->create_stream("communication") : nullptr;
  Stream& comm_stream = second ? *second : *compute;
  const auto comm = parts.communicator(
      ranks.create_communicator(*device, comm_stream, comm_settings(config)), rank);
  const std::int64_t time = sequence_length(config, inputs.model);
  const auto widening = inputs.model.dtype == DType::kFloat32
                            ? nullptr
                            : std::make_unique<WideningKernels>(
                                  *kernels, *device, *compute,
                                  widening_elements(inputs.model, config.micro_batch, time));
  Kernels& model_kernels = widening ? *widening : *kernels;
  const auto model = make_model(inputs.model, *device, *compute, model_kernels, config.micro_batch,
                                time, model_options(config));
  const ParameterLayout layout = grouped(model->layout(), config.groups);
  const std::int64_t parameters = layout.parameter_count();
  const auto clipper = parts.clipper(
      std::make_unique<Clipper>(*device, *compute, *comm, *kernels, config.clip, parameters),
      *device, *compute, *comm, *kernels, config.clip, parameters);
  const auto initial = initial_parameters(config, layout, *kernels);
  const auto stage = parts.stage(run.factory)({*device, *compute, *comm, *kernels, layout, *initial,
                                               *clipper, stage_settings(config, run.order)});

  const CheckContext context{ranks,  *device, *compute,  *comm,    *kernels,
                             *model, config,  run.stage, run.order};
  const auto checks = run.checks ? run.checks(context) : std::vector<std::unique_ptr<Check>>();
  const auto others =
      run.observers ? run.observers(context) : std::vector<std::unique_ptr<TrainObserver>>();

  RankResult result;
  result.rank = rank;
  LedgerRecorder ledgers(*device, *comm, config.trained_steps());
  StepRecorder steps(result);
  std::vector<TrainObserver*> observers = {&ledgers, &steps};
  std::vector<std::unique_ptr<Stage>> probes;
  Stage* outermost = stage.get();
  for (const auto& check : checks) {
    observers.push_back(check.get());
    if (auto probe = check->probe(*outermost)) {
      outermost = probe.get();
      probes.push_back(std::move(probe));
    }
  }
  for (const auto& other : others) observers.push_back(other.get());

  const auto weighting = parts.loss_weighting(std::make_unique<LossWeighting>());
  DataFeed feed(*inputs.data, *device, *compute, *kernels);
  TrainingLoop loop({*device, *compute, *comm, *kernels, *model, *outermost, feed, *weighting},
                    training_settings(config, run.order), observers);
  const DrainWhileUnwinding drain(*comm, *compute);
  loop.run();

  comm_stream.synchronize();
  compute->synchronize();
  ledgers.contribute(result);
  for (const auto& check : checks) {
    for (Finding& finding : check->findings()) result.findings.push_back(std::move(finding));
    check->contribute(result);
  }
  watchers.contribute(result);
  return result;
}

StageResult run_stage(World& world, const RunInputs& inputs, const StageRun& run) {
  StageResult result;
  result.name = run.name;
  result.stage = run.stage;
  world.run([&](RankContext& ranks) {
    const RankResult mine = run_rank(ranks, inputs, run);
    const std::vector<std::string> all = ranks.gather_texts(serialize(mine));
    if (ranks.rank() != world.local_rank()) return;
    for (const std::string& text : all) result.ranks.push_back(deserialize(text));
  });
  return result;
}

}  // namespace zerolab
