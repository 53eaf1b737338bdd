/// \file
/// Which tensors a model has, which unit each belongs to, and where each lies in the unit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stages/core/view.h"

namespace zerolab {

/// Index of a unit in `ParameterLayout::units()`.
using UnitId = int;

/// Every tensor starts on a multiple of this many elements, in every dtype.
inline constexpr std::int64_t kTensorAlignment = 32;

enum class Init : std::uint8_t { kNormal, kZeros, kOnes };

/// One parameter tensor. Its canonical elements are (name, row-major index in `shape`).
struct TensorSpec {
  std::string name;                 ///< Hugging Face's: "h.0.attn.c_attn.weight"
  std::vector<std::int64_t> shape;  ///< Hugging Face's: Conv1D weights are (in, out)
  Init init = Init::kNormal;
  float deviation = 0.02F;  ///< of kNormal
  bool decay = false;       ///< weight decay applies (matrices only)
  /// The weight of a layer between two hidden layers: (in, out), what Muon orthogonalises.
  bool hidden = false;
  int group = -1;  ///< of parameters (GroupRule); below 0: kDecayedGroup or kPlainGroup, by `decay`
  bool frozen = false;  ///< not trained: it has no gradient and no optimizer state

  std::int64_t count() const;
};

/// A tensor's place: `offset` elements into its unit's trained part, or into its frozen part.
struct TensorPlace {
  int tensor = 0;  ///< index in `tensors()`
  std::int64_t offset = 0;
};

/// What ZeRO-3 gathers at once: the embedding, one transformer block, the final norm.
struct UnitLayout {
  std::string name;                 ///< "embedding", "h.2", "ln_f"
  std::vector<TensorPlace> places;  ///< in model order
  std::int64_t size = 0;            ///< elements that are trained, gaps for alignment included
  std::int64_t frozen_size = 0;     ///< the same of its frozen tensors
};

/// Units in flat order: the order in which their gradients complete (final norm, last block …
/// first block, embedding). Tensors are numbered through in that order.
class ParameterLayout {
 public:
  /// Appends a unit; call in flat order.
  UnitId add_unit(std::string name, std::vector<TensorSpec> tensors);

  const std::vector<UnitLayout>& units() const { return units_; }
  const UnitLayout& unit(UnitId id) const { return units_.at(static_cast<std::size_t>(id)); }
  const std::vector<TensorSpec>& tensors() const { return tensors_; }
  const TensorSpec& tensor(int index) const { return tensors_.at(static_cast<std::size_t>(index)); }
  UnitId unit_of(int tensor) const { return unit_of_.at(static_cast<std::size_t>(tensor)); }
  /// The place of tensor `index` in its unit.
  const TensorPlace& place_of(int index) const;
  /// \throws BadInput naming the nearest known name.
  int tensor_named(const std::string& name) const;

  /// Puts a tensor into a group of parameters with a rule of its own.
  void set_group(int tensor, int group) {
    tensors_.at(static_cast<std::size_t>(tensor)).group = group;
  }

  /// Takes a tensor out of training. The others of its unit move together.
  void freeze(int tensor);

  /// Ψ: parameters of the model, frozen ones too, gaps not counted.
  std::int64_t parameter_count() const { return parameter_count_; }
  /// Those that are trained.
  std::int64_t trained_count() const;

 private:
  void place(UnitLayout& unit);

  std::vector<UnitLayout> units_;
  std::vector<TensorSpec> tensors_;
  std::vector<UnitId> unit_of_;
  std::int64_t parameter_count_ = 0;
};

}  // namespace zerolab
