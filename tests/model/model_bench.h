/// \file
/// A model on a device with a local stage, random weights and random batches: what the tests share.
#pragma once

#include <memory>
#include <vector>

#include "stages/data/batch_source.h"
#include "stages/device/cpu/cpu_device.h"
#include "stages/kernels/cpu/cpu_kernels.h"
#include "stages/model/model_factory.h"
#include "tests/model/local_stage.h"

namespace zerolab {

/// Weights that hide nothing: norms' weights are not 1 and biases are not 0, and attention is far
/// from uniform.
class RandomWeights final : public TensorSource {
 public:
  RandomWeights(ParameterLayout layout, float deviation)
      : layout_(std::move(layout)), deviation_(deviation) {}
  void read(int tensor, Range elements, float* dst) const override;

 private:
  ParameterLayout layout_;
  float deviation_;
};

/// A host batch by number: tokens below the vocabulary, or normal numbers.
HostBatch random_batch(const ModelSpec& spec, std::int64_t batch, std::int64_t time, int number);

/// All on one rank. New memory is poisoned with NaN, so nothing read before it is written can pass.
class ModelBench {
 public:
  ModelBench(const ModelSpec& spec, std::int64_t batch, std::int64_t time,
             LocalOptimizer optimizer = {}, bool guarded = false, const ModelOptions& options = {});

  const ParameterLayout& layout() const { return model_->layout(); }
  Model& model() { return *model_; }
  LocalStage& stage() { return *stage_; }
  Device& device() { return *device_; }
  Kernels& kernels() { return *kernels_; }

  /// The mean loss; leaves gradients in the stage. `index` > 0 adds to them.
  double forward_backward(const HostBatch& batch, int index = 0, std::int64_t step = 1);
  /// The mean loss.
  double evaluate(const HostBatch& batch);
  void step(std::int64_t step, float learning_rate, double scale = 1);

  std::vector<float> gradient(const std::string& tensor);
  std::vector<float> parameter(const std::string& tensor);

 private:
  Batch upload(const HostBatch& batch);
  double mean(View sum);

  std::unique_ptr<Device> device_;
  std::unique_ptr<Kernels> kernels_;  // outlives the stream, whose queued work runs in it
  std::unique_ptr<Stream> compute_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<LocalStage> stage_;
  Buffer inputs_, targets_;
};

}  // namespace zerolab
