/// \file
/// How a model walks through its uses: acquire, compute, hand over the gradient, release.
#pragma once

#include <span>

#include "stages/core/error.h"
#include "stages/model/layout.h"
#include "stages/stage.h"

namespace zerolab {

/// The tensors of one unit, by their index in the unit. The gradient of a frozen one is empty.
class UnitTensors {
 public:
  UnitTensors(const ParameterLayout& layout, UnitId unit, UnitView values)
      : layout_(&layout), unit_(&layout.unit(unit)), values_(values) {}

  View operator[](int index) const {
    const TensorPlace& place = unit_->places.at(static_cast<std::size_t>(index));
    const TensorSpec& tensor = layout_->tensor(place.tensor);
    if (tensor.frozen && values_.frozen.empty()) return {};
    return (tensor.frozen ? values_.frozen : values_.trained).slice(place.offset, tensor.count());
  }

 private:
  const ParameterLayout* layout_;
  const UnitLayout* unit_;
  UnitView values_;
};

/// Walks one micro-batch's uses on a stage. The computation names the unit that it needs, so a
/// model whose code and `uses` have drifted apart stops at once.
class Visits {
 public:
  Visits(Stage& stage, const ParameterLayout& layout, std::span<const Use> uses)
      : stage_(stage), layout_(layout), uses_(uses) {}

  /// Every declared use has been visited: what backward would go on to is frozen.
  bool finished() const { return next_ == uses_.size(); }

  /// `compute(parameters)`
  template <class Compute>
  void forward(UnitId unit, Compute&& compute) {
    read(next(unit, Phase::kForward), compute);
  }

  /// The same once more, in the middle of backward.
  template <class Compute>
  void recompute(UnitId unit, Compute&& compute) {
    read(next(unit, Phase::kRecompute), compute);
  }

  /// `compute(parameters, gradients)`; the parameters must not be touched where the use does not
  /// read them.
  template <class Compute>
  void backward(UnitId unit, Compute&& compute) {
    const Use& use = next(unit, Phase::kBackward);
    const UnitView parameters = acquire(use);
    UnitView gradients;
    if (layout_.unit(unit).size > 0) gradients.trained = stage_.gradients(use);
    compute(UnitTensors(layout_, unit, parameters), UnitTensors(layout_, unit, gradients));
    if (use.completes_gradient) stage_.gradients_ready(use);
    stage_.release(use);
  }

 private:
  const Use& next(UnitId unit, Phase phase) {
    require(next_ < uses_.size() && uses_[next_].unit == unit && uses_[next_].phase == phase,
            "[model] visit {} is not the declared one", next_);
    return uses_[next_++];
  }

  UnitView acquire(const Use& use) {
    const UnitView parameters = stage_.acquire(use);
    const UnitLayout& unit = layout_.unit(use.unit);
    require(!use.reads_parameters || (parameters.trained.count >= unit.size &&
                                      parameters.frozen.count >= unit.frozen_size),
            "[{}] handed out {} trained and {} frozen elements of {}, which has {} and {}",
            stage_.name(), parameters.trained.count, parameters.frozen.count, unit.name, unit.size,
            unit.frozen_size);
    return parameters;
  }

  template <class Compute>
  void read(const Use& use, Compute&& compute) {
    const UnitView parameters = acquire(use);
    compute(UnitTensors(layout_, use.unit, parameters));
    stage_.release(use);
  }

  Stage& stage_;
  const ParameterLayout& layout_;
  std::span<const Use> uses_;
  std::size_t next_ = 0;
};

}  // namespace zerolab
