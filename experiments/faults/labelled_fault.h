/// \file
/// The base of faults: holds the label.
#pragma once

#include <utility>

#include "experiments/faults/fault.h"

namespace zerolab {

class LabelledFault : public Fault {
 public:
  explicit LabelledFault(FaultLabel label) : label_(std::move(label)) {}
  const FaultLabel& label() const override { return label_; }

 private:
  FaultLabel label_;
};

}  // namespace zerolab
