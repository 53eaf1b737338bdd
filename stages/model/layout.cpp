#include "stages/model/layout.h"

#include "stages/core/error.h"
#include "stages/core/nearest.h"
#include "stages/kernels/kernels.h"

namespace zerolab {

std::int64_t TensorSpec::count() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

UnitId ParameterLayout::add_unit(std::string name, std::vector<TensorSpec> tensors) {
  const UnitId id = static_cast<UnitId>(units_.size());
  UnitLayout unit{std::move(name), {}, 0};
  for (TensorSpec& tensor : tensors) {
    const std::int64_t offset = round_up(unit.size, kTensorAlignment);
    unit.places.push_back({static_cast<int>(tensors_.size()), offset});
    unit.size = offset + tensor.count();
    parameter_count_ += tensor.count();
    if (tensor.group < 0) tensor.group = tensor.decay ? kDecayedGroup : kPlainGroup;
    tensors_.push_back(std::move(tensor));
    unit_of_.push_back(id);
  }
  // The next unit's first tensor is aligned too when units lie back to back.
  unit.size = round_up(unit.size, kTensorAlignment);
  units_.push_back(std::move(unit));
  return id;
}

const TensorPlace& ParameterLayout::place_of(int index) const {
  const UnitLayout& owner = unit(unit_of(index));
  return owner.places.at(static_cast<std::size_t>(index - owner.places.front().tensor));
}

int ParameterLayout::tensor_named(const std::string& name) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].name == name) return static_cast<int>(i);
    names.push_back(tensors_[i].name);
  }
  bad_input("[layout] the model has no tensor '{}'; the nearest name is '{}'", name,
            nearest(name, names));
}

}  // namespace zerolab
