// ZeRO stage 1, in the order of a training step.
#include "zero1/zero1.h"

#include "stages/parallel/owned_slices.h"

namespace zerolab {

Zero1::Zero1(StageParts parts)
    : parts_(std::move(parts)),
      partition_(Partition::by_bucket(parts_.layout, parts_.comm.world_size(),
                                      parts_.settings.bucket_elements)),
      parameters_(parts_.allocate(partition_.flat_size(), Category::kParameters, "parameters")),
      gradients_(parts_.allocate(partition_.flat_size(), Category::kGradients, "gradients")),
      frozen_(parts_),
      payload_(parts_.payload(partition_.largest_piece())),
      accumulator_(parts_.accumulator(partition_.owned_size())),
      optimizer_(parts_.optimizer(partition_, partition_.owned_size())),
      owned_parameters_(slices_in_full(partition_, rank(), parameters_.view())),
      owned_gradients_(accumulator_.active()
                           ? slices_in_shard(partition_, rank(), accumulator_.total())
                           : slices_in_full(partition_, rank(), gradients_.view())),
      completion_(partition_),
      published_(partition_.pieces().size()) {
  parts_.write_initial(replicated_slices(partition_, parameters_.view()));
  parts_.write_initial(
      slices_in_shard(partition_, rank(), optimizer_->state(Category::kMasterWeights)));
}

void Zero1::begin(const MicroBatch& micro_batch) {
  const bool fresh = micro_batch.index == 0 || micro_batch_.reduce;
  micro_batch_ = micro_batch;
  completion_.begin(micro_batch.uses);
  if (!fresh || !has_backward(micro_batch)) return;
  parts_.compute.wait(reduced_, "gradient buffer free");
  parts_.kernels.zero(parts_.compute, gradients_.view());
}

UnitView Zero1::acquire(const Use& use) {
  const Range flat = partition_.unit(use.unit);
  for (const int bucket : partition_.pieces_of(flat)) {
    parts_.compute.wait(published_[static_cast<std::size_t>(bucket)], "parameters published");
  }
  return {parameters_.slice(flat), frozen_.unit(use.unit)};
}

void Zero1::release(const Use&) {}

View Zero1::gradients(const Use& use) { return gradients_.slice(partition_.unit(use.unit)); }

void Zero1::gradients_ready(const Use& use) {
  if (!micro_batch_.reduce) return;
  for (const int bucket : completion_.pieces_in_turn(use.unit)) reduce_bucket(bucket);
}

void Zero1::reduce_bucket(int bucket) {
  const View whole = gradients_.slice(partition_.piece(bucket));
  const View slice = gradients_.slice(partition_.slice(bucket, rank()));
  parts_.comm.wait(parts_.compute.record(), "gradients of the bucket complete");
  payload_.reduce_scatter(
      whole, slice,
      {"reduce-scatter gradients", Traffic::kTraining, fmt::format("bucket {}", bucket)});
  accumulate_shard(bucket, slice);
  reduced_ = parts_.comm.record();
}

void Zero1::accumulate_shard(int bucket, View reduced) {
  accumulator_.add(parts_.comm.stream(), micro_batch_.index, reduced, partition_.in_shard(bucket));
}

void Zero1::step(const StepSettings& settings) {
  parts_.compute.wait(reduced_, "gradients reduced");
  const View factor = parts_.clipper.factor(owned_gradients_, settings.gradient_scale);
  update_owned(factor, settings);
  publish();
}

void Zero1::update_owned(View factor, const StepSettings& settings) {
  optimizer_->update(owned_parameters_, owned_gradients_, factor, settings);
}

void Zero1::publish() {
  parts_.comm.wait(parts_.compute.record(), "own slices updated");
  // The next forward pass starts with the embedding, at the end of the flat space.
  for (int bucket = static_cast<int>(published_.size()) - 1; bucket >= 0; --bucket) {
    parts_.comm.all_gather(
        parameters_.slice(partition_.slice(bucket, rank())),
        parameters_.slice(partition_.piece(bucket)),
        {"all-gather parameters", Traffic::kTraining, fmt::format("bucket {}", bucket)});
    published_[static_cast<std::size_t>(bucket)] = parts_.comm.record();
  }
}

void Zero1::visit_owned(Category category, const OwnedVisitor& visitor) {
  parts_.compute.wait(parts_.comm.record(), "gradients reduced, parameters published");
  if (category == Category::kParameters) {
    visit_each(owned_parameters_, visitor);
    return visit_each(frozen_.slices(), visitor);
  }
  if (category == Category::kGradients) return visit_each(owned_gradients_, visitor);
  visit_each(slices_in_shard(partition_, rank(), optimizer_->state(category)), visitor);
}

}  // namespace zerolab
