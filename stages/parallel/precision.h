/// \file
/// In which types a training recipe keeps and moves its states.
#pragma once

#include "stages/core/dtype.h"

namespace zerolab {

/// fp32 throughout, or mixed precision (Micikevicius et al. 2018): 16-bit parameters, activations
/// and gradients, fp32 master weights and moments. In bytes a parameter with Adam: 16 with 16-bit
/// gradients (ZeRO paper, section 3.1), 20 with fp32 sums over micro-batches besides, 18 where the
/// gradients travel, and are therefore kept, in fp32.
struct Precision {
  DType compute = DType::kFloat32;     ///< parameters and activations
  DType reduce = DType::kFloat32;      ///< gradients on their way; sums are fp32, rounded once
  DType accumulate = DType::kFloat32;  ///< sums over micro-batches
  bool local_sums = false;  ///< several micro-batches add up where backward adds (local order)

  /// Where backward adds, and what is left of it after the reduction: the type in which gradients
  /// travel, if they are also computed in it, else fp32. Local sums have the accumulators' type.
  DType gradients() const {
    if (local_sums) return accumulate;
    return reduce == compute ? compute : DType::kFloat32;
  }
  bool has_master_weights() const { return compute != DType::kFloat32; }

  bool operator==(const Precision&) const = default;
};

}  // namespace zerolab
