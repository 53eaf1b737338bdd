/// \file
/// A stage for one rank that keeps everything in memory and checks every call of the contract.
#pragma once

#include <vector>

#include "stages/checkpoint/weights.h"
#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/stage.h"

namespace zerolab {

/// AdamW when `adamw`, else SGD with momentum.
struct LocalOptimizer {
  bool adamw = true;
  float beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;
  float momentum = 0;
  float weight_decay = 0;
};

/// Buffers a unit: parameters, gradients, two moments. A call out of the declared order throws
/// std::logic_error. A use that reads no parameters gets an empty view.
class LocalStage final : public Stage {
 public:
  LocalStage(const ParameterLayout& layout, Device& device, Stream& compute, Kernels& kernels,
             LocalOptimizer optimizer = {});

  std::string_view name() const override { return "local"; }
  void begin(const MicroBatch& micro_batch) override;
  UnitView acquire(const Use& use) override;
  void release(const Use& use) override;
  View gradients(const Use& use) override;
  void gradients_ready(const Use& use) override;
  void step(const StepSettings& settings) override;
  View norm_and_factor() const override { return factor_.view(); }
  void visit_owned(Category category, const OwnedVisitor& visitor) override;

  /// Every declared use has been visited and released.
  bool finished() const { return next_ == uses_.size(); }

  void load(const TensorSource& weights);
  std::vector<float> parameter(int tensor) { return read(parameters_of(tensor), tensor); }
  std::vector<float> gradient(int tensor) { return read(gradients_, tensor); }
  void set_parameter(int tensor, std::int64_t element, float value);

 private:
  using UnitBuffers = std::vector<Buffer>;
  UnitBuffers allocate(Category category, const char* name);
  UnitBuffers allocate_frozen();
  View view_of(const UnitBuffers& buffers, int tensor) const;
  /// Where a tensor's parameters are.
  const UnitBuffers& parameters_of(int tensor) const {
    return layout_.tensor(tensor).frozen ? frozen_ : parameters_;
  }
  std::vector<float> read(const UnitBuffers& buffers, int tensor);
  std::vector<Segment> segments(UnitId unit) const;
  const Use& current(const Use& use) const;

  ParameterLayout layout_;
  Device& device_;
  Stream& compute_;
  Kernels& kernels_;
  LocalOptimizer optimizer_;
  UnitBuffers parameters_, frozen_, gradients_, first_, second_;
  Buffer factor_;

  std::vector<Use> uses_;
  std::size_t next_ = 0;
  bool acquired_ = false;
  bool gradient_open_ = false;
  std::vector<bool> complete_;
};

}  // namespace zerolab
