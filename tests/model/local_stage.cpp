#include "tests/model/local_stage.h"

namespace zerolab {

LocalStage::LocalStage(const ParameterLayout& layout, Device& device, Stream& compute,
                       Kernels& kernels, LocalOptimizer optimizer)
    : layout_(layout),
      device_(device),
      compute_(compute),
      kernels_(kernels),
      optimizer_(optimizer),
      parameters_(allocate(Category::kParameters, "parameters")),
      frozen_(allocate_frozen()),
      gradients_(allocate(Category::kGradients, "gradients")),
      first_(allocate(Category::kFirstMoments, "first moments")),
      second_(allocate(Category::kSecondMoments, "second moments")),
      factor_(device.allocate(DType::kFloat32, 2, Category::kWorkspace, "factor", compute)) {}

LocalStage::UnitBuffers LocalStage::allocate(Category category, const char* name) {
  UnitBuffers buffers;
  for (const UnitLayout& unit : layout_.units()) {
    buffers.push_back(device_.allocate(DType::kFloat32, unit.size, category,
                                       fmt::format("{} of {}", name, unit.name), compute_));
    if (unit.size > 0) kernels_.zero(compute_, buffers.back().view());
  }
  return buffers;
}

LocalStage::UnitBuffers LocalStage::allocate_frozen() {
  UnitBuffers buffers;
  for (const UnitLayout& unit : layout_.units()) {
    buffers.push_back(device_.allocate(DType::kFloat32, unit.frozen_size, Category::kParameters,
                                       "frozen parameters of " + unit.name, compute_));
  }
  return buffers;
}

void LocalStage::begin(const MicroBatch& micro_batch) {
  require(finished(), "[local] the last micro-batch was not finished");
  uses_.assign(micro_batch.uses.begin(), micro_batch.uses.end());
  next_ = 0;
  complete_.assign(layout_.units().size(), false);
  if (micro_batch.index == 0) {
    for (Buffer& buffer : gradients_) kernels_.zero(compute_, buffer.view());
  }
}

const Use& LocalStage::current(const Use& use) const {
  require(next_ < uses_.size(), "[local] a use came after the last");
  const Use& declared = uses_[next_];
  require(use.unit == declared.unit && use.phase == declared.phase &&
              use.reads_parameters == declared.reads_parameters &&
              use.completes_gradient == declared.completes_gradient,
          "[local] use {} differs from the declared one", next_);
  return declared;
}

UnitView LocalStage::acquire(const Use& use) {
  current(use);
  require(!acquired_, "[local] acquired twice");
  acquired_ = true;
  if (!use.reads_parameters) return {};
  const auto unit = static_cast<std::size_t>(use.unit);
  return {parameters_[unit].view(), frozen_[unit].view()};
}

View LocalStage::gradients(const Use& use) {
  current(use);
  require(acquired_ && use.phase == Phase::kBackward, "[local] gradients outside of backward");
  require(!complete_[static_cast<std::size_t>(use.unit)], "[local] the gradient was complete");
  gradient_open_ = true;
  return gradients_[static_cast<std::size_t>(use.unit)].view();
}

void LocalStage::gradients_ready(const Use& use) {
  current(use);
  require(gradient_open_ && use.completes_gradient, "[local] a gradient is not complete here");
  complete_[static_cast<std::size_t>(use.unit)] = true;
  gradient_open_ = false;
}

void LocalStage::release(const Use& use) {
  current(use);
  require(acquired_, "[local] released without acquire");
  require(!(use.completes_gradient && gradient_open_), "[local] gradients_ready is missing");
  acquired_ = gradient_open_ = false;
  ++next_;
}

void LocalStage::step(const StepSettings& settings) {
  require(finished(), "[local] a step in the middle of a micro-batch");
  kernels_.fill(compute_, factor_.view(), static_cast<float>(settings.gradient_scale));
  const View factor = factor_.slice(1, 1);
  for (std::size_t unit = 0; unit < parameters_.size(); ++unit) {
    const View p = parameters_[unit].view(), g = gradients_[unit].view();
    const std::vector<Segment> real = segments(static_cast<UnitId>(unit));
    if (optimizer_.adamw) {
      kernels_.adamw(compute_, p, g, first_[unit].view(), second_[unit].view(), factor,
                     {settings.learning_rate, optimizer_.beta1, optimizer_.beta2,
                      optimizer_.epsilon, optimizer_.weight_decay, settings.step},
                     real);
    } else {
      kernels_.sgd(
          compute_, p, g, first_[unit].view(), factor,
          {settings.learning_rate, optimizer_.momentum, optimizer_.weight_decay, settings.step},
          real);
    }
  }
}

std::vector<Segment> LocalStage::segments(UnitId unit) const {
  std::vector<Segment> result;
  for (const TensorPlace& place : layout_.unit(unit).places) {
    const TensorSpec& tensor = layout_.tensor(place.tensor);
    if (tensor.frozen) continue;
    result.push_back({place.tensor, 0, place.offset, tensor.count(), tensor.decay});
  }
  return result;
}

void LocalStage::visit_owned(Category category, const OwnedVisitor& visitor) {
  const UnitBuffers* buffers = category == Category::kParameters     ? &parameters_
                               : category == Category::kGradients    ? &gradients_
                               : category == Category::kFirstMoments ? &first_
                                                                     : &second_;
  for (std::size_t unit = 0; unit < buffers->size(); ++unit) {
    visitor({(*buffers)[unit].view(), segments(static_cast<UnitId>(unit)), false});
  }
}

View LocalStage::view_of(const UnitBuffers& buffers, int tensor) const {
  return buffers[static_cast<std::size_t>(layout_.unit_of(tensor))].slice(
      layout_.place_of(tensor).offset, layout_.tensor(tensor).count());
}

void LocalStage::load(const TensorSource& weights) {
  for (int tensor = 0; tensor < static_cast<int>(layout_.tensors().size()); ++tensor) {
    std::vector<float> values(static_cast<std::size_t>(layout_.tensor(tensor).count()));
    weights.read(tensor, {0, layout_.tensor(tensor).count()}, values.data());
    const View place = view_of(parameters_of(tensor), tensor);
    kernels_.upload(compute_, values.data(), place.bytes(), place);
  }
}

std::vector<float> LocalStage::read(const UnitBuffers& buffers, int tensor) {
  std::vector<float> values(static_cast<std::size_t>(layout_.tensor(tensor).count()));
  kernels_.download(compute_, view_of(buffers, tensor), values.data());
  compute_.synchronize();
  return values;
}

void LocalStage::set_parameter(int tensor, std::int64_t element, float value) {
  const View place = view_of(parameters_of(tensor), tensor).slice(element, 1);
  kernels_.upload(compute_, &value, place.bytes(), place);
}

}  // namespace zerolab
