// Plain data parallelism, in the order of a training step.
#include "baseline_ddp/ddp.h"

#include "stages/parallel/owned_slices.h"

namespace zerolab {

Ddp::Ddp(StageParts parts)
    : parts_(std::move(parts)),
      partition_(Partition::by_bucket(parts_.layout, parts_.comm.world_size(),
                                      parts_.settings.bucket_elements)),
      parameters_(parts_.allocate(partition_.flat_size(), Category::kParameters, "parameters")),
      gradients_(parts_.allocate(partition_.flat_size(), Category::kGradients, "gradients")),
      frozen_(parts_),
      payload_(parts_.payload(partition_.largest_piece())),
      accumulator_(parts_.accumulator(partition_.flat_size())),
      optimizer_(parts_.optimizer(partition_, partition_.flat_size())),
      owned_parameters_(replicated_slices(partition_, parameters_.view())),
      owned_gradients_(replicated_slices(
          partition_, accumulator_.active() ? accumulator_.total() : gradients_.view())),
      completion_(partition_) {
  parts_.write_initial(owned_parameters_);
  parts_.write_initial(replicated_slices(partition_, optimizer_->state(Category::kMasterWeights)));
}

void Ddp::begin(const MicroBatch& micro_batch) {
  const bool fresh = micro_batch.index == 0 || micro_batch_.reduce;
  micro_batch_ = micro_batch;
  completion_.begin(micro_batch.uses);
  if (!fresh || !has_backward(micro_batch)) return;
  parts_.compute.wait(reduced_, "gradient buffer free");
  parts_.kernels.zero(parts_.compute, gradients_.view());
}

UnitView Ddp::acquire(const Use& use) {
  return {parameters_.slice(partition_.unit(use.unit)), frozen_.unit(use.unit)};
}

void Ddp::release(const Use&) {}

View Ddp::gradients(const Use& use) { return gradients_.slice(partition_.unit(use.unit)); }

void Ddp::gradients_ready(const Use& use) {
  if (!micro_batch_.reduce) return;
  for (const int bucket : completion_.pieces_in_turn(use.unit)) reduce_bucket(bucket);
}

void Ddp::reduce_bucket(int bucket) {
  const Range flat = partition_.piece(bucket);
  parts_.comm.wait(parts_.compute.record(), "gradients of the bucket complete");
  payload_.all_reduce(gradients_.slice(flat), {"all-reduce gradients", Traffic::kTraining,
                                               fmt::format("bucket {}", bucket)});
  accumulator_.add(parts_.comm.stream(), micro_batch_.index, gradients_.slice(flat), flat);
  reduced_ = parts_.comm.record();
}

void Ddp::step(const StepSettings& settings) {
  parts_.compute.wait(reduced_, "gradients reduced");
  const View factor = parts_.clipper.factor(owned_gradients_, settings.gradient_scale);
  update_owned(factor, settings);
}

void Ddp::update_owned(View factor, const StepSettings& settings) {
  optimizer_->update(owned_parameters_, owned_gradients_, factor, settings);
}

void Ddp::visit_owned(Category category, const OwnedVisitor& visitor) {
  parts_.compute.wait(reduced_, "gradients reduced");
  if (category == Category::kParameters) {
    visit_each(owned_parameters_, visitor);
    return visit_each(frozen_.slices(), visitor);
  }
  if (category == Category::kGradients) return visit_each(owned_gradients_, visitor);
  visit_each(replicated_slices(partition_, optimizer_->state(category)), visitor);
}

}  // namespace zerolab
