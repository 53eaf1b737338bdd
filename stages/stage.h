/// \file
/// The contract between the training loop, the model and an implementation of data parallelism.
/// The first file to read.
///
/// A *unit* is what ZeRO-3 gathers at once: the embedding, each transformer block, the final norm.
/// The model computes and does not know the world size. The stage owns all model states
/// (parameters, gradients, optimizer states), does all communication of model states, and does not
/// know what the model computes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "stages/core/view.h"
#include "stages/kernels/kernels.h"
#include "stages/memory/category.h"
#include "stages/model/layout.h"

namespace zerolab {

enum class Phase : std::uint8_t { kForward, kRecompute, kBackward };
std::string_view name_of(Phase phase);

/// A unit's parameters: `layout.unit(id).size` elements that are trained, and `frozen_size` that
/// are not (usually none). Each part is contiguous.
struct UnitView {
  View trained;
  View frozen;
};

/// One visit of a unit in a micro-batch.
struct Use {
  UnitId unit = 0;
  Phase phase = Phase::kForward;
  bool reads_parameters = true;     ///< the embedding's backward does not
  bool completes_gradient = false;  ///< nothing will be added to the unit's gradient after this
};

/// What is about to run. `uses` is the whole sequence of visits, so that a stage can prefetch and
/// knows when to flush.
struct MicroBatch {
  int index = 0;       ///< in the global batch of this rank
  int count = 1;       ///< K, the gradient accumulation steps
  bool reduce = true;  ///< the gradients of this micro-batch are to be reduced over ranks
  std::span<const Use> uses;
};

/// Whether the micro-batch trains; an evaluation has forward uses only.
inline bool has_backward(const MicroBatch& micro_batch) {
  for (const Use& use : micro_batch.uses) {
    if (use.phase == Phase::kBackward) return true;
  }
  return false;
}

/// What one optimizer step needs to know besides the states.
struct StepSettings {
  std::int64_t step = 1;  ///< from 1; AdamW's bias correction. A skipped step does not count
  float learning_rate = 0;
  /// Makes the mean over the global batch of the sum: 1 / (N·K), or B·T over the tokens that count;
  /// and undoes the loss scale.
  double gradient_scale = 1;
};

/// A slice of one state that this rank owns (or holds a copy of, for replicated state).
struct OwnedSlice {
  View values;
  std::vector<Segment> segments;  ///< the real elements, `flat_begin` counted from the view's begin
  bool replicated = false;        ///< every rank holds the same slice; rank 0's copy counts
};
using OwnedVisitor = std::function<void(const OwnedSlice&)>;

/// One implementation of data parallelism on one rank. All calls come from the rank's host thread;
/// work is queued on the compute and the communication stream.
///
/// Within a micro-batch: `begin`, then for each use in order `acquire`, the model's kernels,
/// for backward uses `gradients` before and `gradients_ready` after (the latter only where
/// `completes_gradient`), `release`. After the last micro-batch of a global batch: `step`.
class Stage {
 public:
  virtual ~Stage() = default;

  /// What reports call the implementation.
  virtual std::string_view name() const = 0;

  virtual void begin(const MicroBatch& micro_batch) = 0;
  /// The unit's full parameters, valid on the compute stream until `release`.
  virtual UnitView acquire(const Use& use) = 0;
  virtual void release(const Use& use) = 0;
  /// Where backward adds, `layout.unit(id).size` elements; not called where that is 0. Zeroed
  /// before the first backward use of a global batch (or micro-batch, where each is reduced).
  virtual View gradients(const Use& use) = 0;
  /// The unit's gradient is complete for this micro-batch.
  virtual void gradients_ready(const Use& use) = 0;

  /// Waits for the gradients, computes norm and factor over them, updates the owned slices and
  /// publishes the parameters. Where the gradient is not finite nothing changes, on any rank. The
  /// gradients' storage may be reused afterwards.
  virtual void step(const StepSettings& settings) = 0;
  /// fp32 (2): the norm of the mean gradient and the factor of the last `step`.
  virtual View norm_and_factor() const = 0;

  /// Owned slices of `category` one at a time, in flat order (frozen parameters after the trained
  /// ones), ready on the compute stream.
  /// Categories: kParameters, kGradients (the reduced sum before the factor; between the last
  /// `gradients_ready` and `step`), kFirstMoments, kSecondMoments, kMasterWeights.
  virtual void visit_owned(Category category, const OwnedVisitor& visitor) = 0;
};

}  // namespace zerolab
