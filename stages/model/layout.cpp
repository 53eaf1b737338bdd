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
    unit.places.push_back({static_cast<int>(tensors_.size()), 0});
    parameter_count_ += tensor.count();
    if (tensor.group < 0) tensor.group = tensor.decay ? kDecayedGroup : kPlainGroup;
    tensors_.push_back(std::move(tensor));
    unit_of_.push_back(id);
  }
  place(unit);
  units_.push_back(std::move(unit));
  return id;
}

void ParameterLayout::place(UnitLayout& unit) {
  unit.size = unit.frozen_size = 0;
  for (TensorPlace& place : unit.places) {
    std::int64_t& part = tensor(place.tensor).frozen ? unit.frozen_size : unit.size;
    place.offset = part;
    // The next tensor is aligned, and the next unit's first one where units lie back to back.
    part = round_up(part + tensor(place.tensor).count(), kTensorAlignment);
  }
}

void ParameterLayout::freeze(int tensor) {
  tensors_.at(static_cast<std::size_t>(tensor)).frozen = true;
  place(units_[static_cast<std::size_t>(unit_of(tensor))]);
}

std::int64_t ParameterLayout::trained_count() const {
  std::int64_t count = 0;
  for (const TensorSpec& tensor : tensors_) count += tensor.frozen ? 0 : tensor.count();
  return count;
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
