/// \file
/// The base of all optimizers: their states, and the walk over the slices.
#pragma once

#include <map>
#include <vector>

#include "stages/optim/optimizer.h"

namespace zerolab {

/// One slice as an optimizer sees it.
struct UpdateSlice {
  View parameters;  ///< fp32: the master weights where there are any
  View gradients;
  Range place;  ///< of the slice in the states
  const std::vector<Segment>& segments;
};

/// Derive and say how a slice is updated, and before that what must be known of all slices.
class SliceOptimizer : public Optimizer {
 public:
  SliceOptimizer(const OptimizerSettings& settings, const OptimizerParts& parts);

  void update(const std::vector<OwnedSlice>& parameters, const std::vector<OwnedSlice>& gradients,
              View factor, const StepSettings& settings) final;
  View state(Category category) const final;

 protected:
  /// Parameters are not written yet.
  virtual void prepare(const std::vector<UpdateSlice>& slices, View factor,
                       const StepSettings& settings);
  /// The only place where fp32 weights are written.
  virtual void update_slice(const UpdateSlice& slice, View factor,
                            const StepSettings& settings) = 0;

  View state(Category category, Range place) const;
  /// AdamW's rule of a step.
  AdamWRule adamw_rule(const StepSettings& settings) const;
  /// Makes the rank's next work on the compute stream follow `call(comm)`, and that follow all work
  /// before.
  template <class Call>
  void communicate(const char* reason, const Call& call) {
    comm_.wait(compute_.record(), reason);
    call(comm_);
    compute_.wait(comm_.record(), reason);
  }

  OptimizerSettings settings_;
  Stream& compute_;
  Communicator& comm_;
  Kernels& kernels_;

 private:
  std::map<Category, Buffer> states_;
};

}  // namespace zerolab
