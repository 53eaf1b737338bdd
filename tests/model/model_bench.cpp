#include "tests/model/model_bench.h"

#include <cstring>
#include <random>

namespace zerolab {

namespace {

std::vector<std::byte> bytes_of(const void* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::memcpy(bytes.data(), data, size);
  return bytes;
}

std::vector<std::byte> random_tokens(std::mt19937& random, std::int64_t count, std::int64_t V) {
  std::uniform_int_distribution<std::int32_t> token(0, static_cast<std::int32_t>(V) - 1);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  for (std::int32_t& t : tokens) t = token(random);
  return bytes_of(tokens.data(), tokens.size() * sizeof(std::int32_t));
}

std::vector<std::byte> random_floats(std::mt19937& random, std::int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(random);
  return bytes_of(values.data(), values.size() * sizeof(float));
}

}  // namespace

void RandomWeights::read(int tensor, Range elements, float* dst) const {
  std::mt19937 random(static_cast<unsigned>(tensor) + 17U);
  std::normal_distribution<float> normal(0, deviation_);
  const float centre = layout_.tensor(tensor).init == Init::kOnes ? 1.0F : 0.0F;
  for (std::int64_t i = 0; i < elements.end; ++i) {
    const float value = centre + normal(random);
    if (i >= elements.begin) dst[i - elements.begin] = value;
  }
}

HostBatch random_batch(const ModelSpec& spec, std::int64_t batch, std::int64_t time, int number) {
  std::mt19937 random(static_cast<unsigned>(number) + 1000U);
  HostBatch result;
  if (spec.is_gpt()) {
    result.inputs = random_tokens(random, batch * time, spec.gpt().vocabulary);
    result.targets = random_tokens(random, batch * time, spec.gpt().vocabulary);
  } else {
    result.inputs = random_floats(random, batch * spec.tied_mlp().width);
    result.targets = random_floats(random, batch * spec.tied_mlp().width);
  }
  return result;
}

ModelBench::ModelBench(const ModelSpec& spec, std::int64_t batch, std::int64_t time,
                       LocalOptimizer optimizer, bool guarded, const ModelOptions& options)
    : device_(make_cpu_device({{}, true, guarded})),
      kernels_(make_cpu_kernels(1)),
      compute_(device_->create_stream("compute")),
      model_(make_model(spec, *device_, *compute_, *kernels_, batch, time, options)),
      stage_(std::make_unique<LocalStage>(model_->layout(), *device_, *compute_, *kernels_,
                                          optimizer)) {
  const DType dtype = spec.is_gpt() ? DType::kInt32 : DType::kFloat32;
  const auto allocate = [&](const char* name) {
    return device_->allocate(dtype, model_->loss_terms(), Category::kWorkspace, name, *compute_);
  };
  inputs_ = allocate("inputs");
  targets_ = allocate("targets");
}

Batch ModelBench::upload(const HostBatch& batch) {
  kernels_->upload(*compute_, batch.inputs.data(), static_cast<std::int64_t>(batch.inputs.size()),
                   inputs_.view());
  kernels_->upload(*compute_, batch.targets.data(), static_cast<std::int64_t>(batch.targets.size()),
                   targets_.view());
  return {inputs_.view(), targets_.view()};
}

double ModelBench::mean(View sum) {
  double value = 0;
  kernels_->download(*compute_, sum, &value);
  compute_->synchronize();
  require(stage_->finished(), "the model left uses unvisited");
  return value / static_cast<double>(model_->loss_terms());
}

double ModelBench::forward_backward(const HostBatch& batch, int index, std::int64_t step) {
  Batch on_device = upload(batch);
  on_device.step = step;
  on_device.first_sample = batch.first_sample;
  on_device.micro_batch = index;
  stage_->begin({index, index + 1, true, model_->training_uses(index)});
  return mean(model_->forward_backward(*stage_, on_device));
}

double ModelBench::evaluate(const HostBatch& batch) {
  const Batch on_device = upload(batch);
  // An index above zero leaves the gradients as they are.
  stage_->begin({1, 2, false, model_->evaluation_uses()});
  return mean(model_->evaluate(*stage_, on_device));
}

void ModelBench::step(std::int64_t step, float learning_rate, double scale) {
  stage_->step({step, learning_rate, scale});
}

std::vector<float> ModelBench::gradient(const std::string& tensor) {
  return stage_->gradient(layout().tensor_named(tensor));
}

std::vector<float> ModelBench::parameter(const std::string& tensor) {
  return stage_->parameter(layout().tensor_named(tensor));
}

}  // namespace zerolab
