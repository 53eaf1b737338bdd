// ZeRO stage 2, in the order of a training step.
#include "zero2/zero2.h"

#include "stages/parallel/owned_slices.h"

namespace zerolab {

Zero2::Zero2(StageParts parts)
    : parts_(std::move(parts)),
      partition_(Partition::by_bucket(parts_.layout, parts_.comm.world_size(),
                                      parts_.settings.bucket_elements)),
      parameters_(parts_.allocate(partition_.flat_size(), Category::kParameters, "parameters")),
      gradients_(parts_.allocate(partition_.owned_size(), Category::kGradients, "gradients")),
      frozen_(parts_),
      payload_(parts_.payload(partition_.largest_piece())),
      accumulator_(parts_.accumulator(partition_.owned_size())),
      optimizer_(parts_.optimizer(partition_, partition_.owned_size())),
      owned_parameters_(slices_in_full(partition_, rank(), parameters_.view())),
      owned_gradients_(slices_in_shard(
          partition_, rank(), accumulator_.active() ? accumulator_.total() : gradients_.view())),
      unit_gradients_(parts_.layout.units().size()),
      completion_(partition_),
      published_(partition_.pieces().size()) {
  parts_.write_initial(replicated_slices(partition_, parameters_.view()));
  parts_.write_initial(
      slices_in_shard(partition_, rank(), optimizer_->state(Category::kMasterWeights)));
  const int buffers = parts_.settings.overlap ? 2 : 1;
  for (int i = 0; i < buffers; ++i) {
    buckets_.push_back(parts_.allocate(partition_.largest_piece(), Category::kGradientBuckets,
                                       fmt::format("bucket buffer {}", i)));
  }
  bucket_free_.resize(buckets_.size());
}

void Zero2::begin(const MicroBatch& micro_batch) {
  require(
      micro_batch.reduce || !has_backward(micro_batch),
      "[zero2] micro-batch {} is not to be reduced, but a shard of the gradients cannot hold an "
      "unreduced one; use the accumulation order 'reduced'",
      micro_batch.index);
  micro_batch_ = micro_batch;
  completion_.begin(micro_batch.uses);
}

UnitView Zero2::acquire(const Use& use) {
  const Range flat = partition_.unit(use.unit);
  for (const int bucket : partition_.pieces_of(flat)) {
    parts_.compute.wait(published_[static_cast<std::size_t>(bucket)], "parameters published");
  }
  return {parameters_.slice(flat), frozen_.unit(use.unit)};
}

void Zero2::release(const Use&) {}

View Zero2::gradients(const Use& use) {
  Buffer& gradient = unit_gradients_[static_cast<std::size_t>(use.unit)];
  if (gradient.empty()) {
    const UnitLayout& unit = parts_.layout.unit(use.unit);
    gradient = parts_.allocate(unit.size, Category::kUnitGradients, "gradient of " + unit.name);
    parts_.kernels.zero(parts_.compute, gradient.view());
  }
  return gradient.view();
}

void Zero2::gradients_ready(const Use& use) {
  for (const UnitId unit : completion_.units_in_turn(use.unit)) fill_buckets(unit);
}

void Zero2::fill_buckets(UnitId unit) {
  Buffer& gradient = unit_gradients_[static_cast<std::size_t>(unit)];
  const Range flat = partition_.unit(unit);
  const bool last =
      flat.end == partition_.unit(static_cast<UnitId>(partition_.unit_count()) - 1).end;
  for (const int bucket : partition_.pieces_of(flat)) {
    const Range piece = partition_.piece(bucket);
    const Range part = intersect(flat, piece);
    const View filling = buckets_[buffer_of(bucket)].slice(part.begin - piece.begin, part.size());
    if (part.begin == piece.begin) {
      parts_.compute.wait(bucket_free_[buffer_of(bucket)], "bucket free");
    }
    if (gradient.empty()) {
      parts_.kernels.zero(parts_.compute, filling);  // unused in this micro-batch, on all ranks
    } else {
      parts_.kernels.copy(parts_.compute, gradient.slice(part.begin - flat.begin, part.size()),
                          filling);
    }
    if (part.end == piece.end || last) reduce_bucket(bucket);
  }
  gradient.reset();  // freed here: its values are on their way in the buckets
}

void Zero2::reduce_bucket(int bucket) {
  const View whole = buckets_[buffer_of(bucket)].slice(0, partition_.piece(bucket).size());
  const View slice = gradients_.slice(partition_.in_shard(bucket));
  parts_.comm.wait(parts_.compute.record(), "gradients of the bucket complete");
  payload_.reduce_scatter(
      whole, slice,
      {"reduce-scatter gradients", Traffic::kTraining, fmt::format("bucket {}", bucket)});
  accumulate_shard(bucket, slice);
  reduced_ = bucket_free_[buffer_of(bucket)] = parts_.comm.record();
}

void Zero2::accumulate_shard(int bucket, View reduced) {
  accumulator_.add(parts_.comm.stream(), micro_batch_.index, reduced, partition_.in_shard(bucket));
}

void Zero2::step(const StepSettings& settings) {
  parts_.compute.wait(reduced_, "gradients reduced");
  const View factor = parts_.clipper.factor(owned_gradients_, settings.gradient_scale);
  update_owned(factor, settings);
  publish();
}

void Zero2::update_owned(View factor, const StepSettings& settings) {
  optimizer_->update(owned_parameters_, owned_gradients_, factor, settings);
}

void Zero2::publish() {
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

void Zero2::visit_owned(Category category, const OwnedVisitor& visitor) {
  parts_.compute.wait(parts_.comm.record(), "gradients reduced, parameters published");
  if (category == Category::kParameters) {
    visit_each(owned_parameters_, visitor);
    return visit_each(frozen_.slices(), visitor);
  }
  if (category == Category::kGradients) return visit_each(owned_gradients_, visitor);
  visit_each(slices_in_shard(partition_, rank(), optimizer_->state(category)), visitor);
}

}  // namespace zerolab
