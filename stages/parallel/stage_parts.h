/// \file
/// What every stage is built from. The same parts, whatever the stage.
#pragma once

#include "stages/comm/communicator.h"
#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/model/layout.h"
#include "stages/model/partition.h"
#include "stages/optim/clipper.h"
#include "stages/optim/optimizer.h"
#include "stages/parallel/gradient_accumulator.h"
#include "stages/parallel/gradient_payload.h"
#include "stages/parallel/initial_parameters.h"
#include "stages/parallel/precision.h"

namespace zerolab {

struct StageSettings {
  bool overlap = true;                     ///< a second bucket; ZeRO-3 prefetches
  std::int64_t bucket_elements = 1 << 18;  ///< DDP, ZeRO-1, ZeRO-2
  int micro_batches = 1;                   ///< K
  AccumulationShape accumulation = AccumulationShape::kNone;
  Precision precision;
  OptimizerSettings optimizer;
};

/// One rank's parts; they outlive the stage. With `--overlap off` the communicator's stream is the
/// compute stream itself.
struct StageParts {
  Device& device;
  Stream& compute;
  Communicator& comm;
  Kernels& kernels;
  const ParameterLayout& layout;
  InitialParameters& initial;
  Clipper& clipper;
  StageSettings settings;

  /// Memory of a model state, in the recipe's type for its category.
  Buffer allocate(std::int64_t count, Category category, std::string name) const {
    return allocate_on(compute, count, category, std::move(name));
  }
  /// The same for what `stream` writes first.
  Buffer allocate_on(Stream& stream, std::int64_t count, Category category,
                     std::string name) const {
    const bool weights =
        category == Category::kParameters || category == Category::kGatheredParameters;
    const Precision& types = settings.precision;
    return device.allocate(weights ? types.compute : types.gradients(), count, category,
                           std::move(name), stream);
  }
  /// Each slice gets the initial values of its elements.
  void write_initial(const std::vector<OwnedSlice>& slices) const {
    for (const OwnedSlice& slice : slices) initial.write(compute, slice);
  }
  /// For `size` elements of the cut flat space: all of them, or this rank's slices.
  std::unique_ptr<Optimizer> optimizer(const Partition& partition, std::int64_t size) const {
    return make_optimizer(settings.optimizer, {device, compute, comm, kernels, partition, size,
                                               settings.precision.has_master_weights()});
  }
  /// Reduces gradients of at most `largest` elements at once.
  GradientPayload payload(std::int64_t largest) const {
    return GradientPayload(device, compute, comm, kernels, settings.precision, largest);
  }
  GradientAccumulator accumulator(std::int64_t size) const {
    return GradientAccumulator(device, comm.stream(), kernels, settings.accumulation,
                               settings.precision.accumulate, settings.micro_batches, size);
  }
};

}  // namespace zerolab
