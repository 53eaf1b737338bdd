#include "experiments/runner/run_inputs.h"

#include "experiments/config/parameter_groups.h"
#include "experiments/config/validate.h"
#include "stages/checkpoint/weights.h"
#include "stages/data/padded_batches.h"
#include "stages/data/regression_batches.h"
#include "stages/data/token_batches.h"

namespace zerolab {
namespace {

/// Reads the owner's slices from a source of values on the host.
class StoredParameters final : public InitialParameters {
 public:
  StoredParameters(std::unique_ptr<TensorSource> source, Kernels& kernels)
      : source_(std::move(source)), kernels_(kernels) {}

  using InitialParameters::write;
  void write(Stream& stream, int tensor, Range elements, View dst) override {
    values_.resize(static_cast<std::size_t>(elements.size()));
    source_->read(tensor, elements, values_.data());
    kernels_.upload_fp32(stream, values_.data(), dst);
  }

 private:
  std::unique_ptr<TensorSource> source_;
  Kernels& kernels_;
  std::vector<float> values_;
};

}  // namespace

ModelSpec model_of(const RunConfig& config) {
  require_known("--precision", config.precision, {"fp32", "bf16", "fp16"});
  ModelSpec model = parse_model(config.model);
  model.dtype = dtype_from_name(config.precision);
  model.frozen = frozen_tensors(layout_of(model), config.frozen);
  return model;
}

std::int64_t sequence_length(const RunConfig& config, const ModelSpec& model) {
  if (!model.is_gpt()) return 1;
  return config.sequence > 0 ? config.sequence : model.gpt().max_time;
}

std::unique_ptr<InitialParameters> initial_parameters(const RunConfig& config,
                                                      const ParameterLayout& layout,
                                                      Kernels& kernels) {
  if (config.load_weights.empty()) {
    return std::make_unique<RandomParameters>(layout, kernels, config.seed);
  }
  return std::make_unique<StoredParameters>(
      std::make_unique<WeightsFile>(layout, config.load_weights), kernels);
}

RunData::RunData(const RunConfig& config, const ModelSpec& model) {
  const std::int64_t per_step = std::int64_t{config.ranks} * config.accumulate;
  if (!model.is_gpt()) {
    if (!config.data.empty()) {
      bad_input("[data] {} draws its regression task itself; leave --data out", model.name);
    }
    batches_ = std::make_unique<RegressionBatches>(
        RegressionSettings{model.tied_mlp().width, config.micro_batch, per_step, config.seed});
    return;
  }
  std::vector<std::filesystem::path> files(config.data.begin(), config.data.end());
  if (files.empty()) files.emplace_back(ZEROLAB_CORPUS);
  tokens_ = std::make_unique<TokenSource>(files, model.gpt().vocabulary);
  auto batches = std::make_unique<TokenBatches>(
      *tokens_, TokenBatchSettings{config.micro_batch, sequence_length(config, model), per_step,
                                   config.seed});
  if (per_step * config.micro_batch > batches->windows()) {
    bad_input(
        "[data] a step needs {} different sequences of {} tokens, but the data has {} to train on; "
        "give more --data, a shorter --seq, a smaller --micro-batch or --accumulate, or fewer "
        "ranks",
        per_step * config.micro_batch, sequence_length(config, model), batches->windows());
  }
  batches_ = std::move(batches);
  if (config.padding > 0) {
    batches_ = std::make_unique<PaddedBatches>(
        std::move(batches_), PaddingSettings{config.micro_batch, config.padding, config.seed});
  }
}

}  // namespace zerolab
