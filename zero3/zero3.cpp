// ZeRO stage 3, in the order of a training step.
#include "zero3/zero3.h"

#include "stages/parallel/owned_slices.h"

namespace zerolab {

Zero3::Zero3(StageParts parts)
    : parts_(std::move(parts)),
      partition_(Partition::by_unit(parts_.layout, parts_.comm.world_size())),
      parameters_(parts_.allocate(partition_.owned_size(), Category::kParameters, "parameters")),
      gradients_(parts_.allocate(partition_.owned_size(), Category::kGradients, "gradients")),
      frozen_(parts_),
      payload_(parts_.payload(partition_.largest_piece())),
      accumulator_(parts_.accumulator(partition_.owned_size())),
      optimizer_(parts_.optimizer(partition_, partition_.owned_size())),
      owned_parameters_(slices_in_shard(partition_, rank(), parameters_.view())),
      owned_gradients_(slices_in_shard(
          partition_, rank(), accumulator_.active() ? accumulator_.total() : gradients_.view())),
      gathered_(partition_.unit_count()),
      unit_gradients_(partition_.unit_count()),
      completion_(partition_) {
  parts_.write_initial(owned_parameters_);
  parts_.write_initial(
      slices_in_shard(partition_, rank(), optimizer_->state(Category::kMasterWeights)));
  // The first gathers must not overtake the initial values.
  parts_.comm.wait(parts_.compute.record(), "own shards written");
}

void Zero3::begin(const MicroBatch& micro_batch) {
  require(
      micro_batch.reduce || !has_backward(micro_batch),
      "[zero3] micro-batch {} is not to be reduced, but a shard of the gradients cannot hold an "
      "unreduced one; use the accumulation order 'reduced'",
      micro_batch.index);
  micro_batch_ = micro_batch;
  completion_.begin(micro_batch.uses);
  position_ = 0;
}

UnitView Zero3::acquire(const Use& use) {
  if (!use.reads_parameters) return {};
  Gathered& unit = gathered_[static_cast<std::size_t>(use.unit)];
  if (unit.empty()) gather(use.unit);
  if (parts_.settings.overlap) prefetch();
  parts_.compute.wait(unit.arrived, "unit gathered");
  const UnitLayout& layout = parts_.layout.unit(use.unit);
  return {unit.parameters.slice(0, layout.size), unit.frozen.slice(0, layout.frozen_size)};
}

void Zero3::prefetch() {
  // The next unit that will be read moves while this one computes.
  const UnitId current = micro_batch_.uses[position_].unit;
  for (std::size_t next = position_ + 1; next < micro_batch_.uses.size(); ++next) {
    const Use& use = micro_batch_.uses[next];
    if (!use.reads_parameters || use.unit == current) continue;
    if (gathered_[static_cast<std::size_t>(use.unit)].empty()) gather(use.unit);
    return;
  }
}

void Zero3::gather(UnitId unit) {
  const Range whole = partition_.piece(unit);
  Gathered& target = gathered_[static_cast<std::size_t>(unit)];
  if (!whole.empty()) {
    target.parameters =
        parts_.allocate_on(parts_.comm.stream(), whole.size(), Category::kGatheredParameters,
                           "parameters of " + parts_.layout.unit(unit).name);
    parts_.comm.all_gather(
        parameters_.slice(partition_.in_shard(unit)), target.parameters.view(),
        {"all-gather parameters", Traffic::kTraining, parts_.layout.unit(unit).name});
  }
  target.frozen = frozen_.gather(parts_, unit);
  target.arrived = parts_.comm.record();
}

void Zero3::release(const Use& use) {
  ++position_;
  if (!use.reads_parameters) return;
  // Consecutive uses of one unit share the gathered copy.
  const bool used_next = position_ < micro_batch_.uses.size() &&
                         micro_batch_.uses[position_].unit == use.unit &&
                         micro_batch_.uses[position_].reads_parameters;
  if (!used_next) gathered_[static_cast<std::size_t>(use.unit)].free();  // freed here
}

View Zero3::gradients(const Use& use) {
  Buffer& gradient = unit_gradients_[static_cast<std::size_t>(use.unit)];
  if (gradient.empty()) {
    gradient = parts_.allocate(partition_.piece(use.unit).size(), Category::kUnitGradients,
                               "gradient of " + parts_.layout.unit(use.unit).name);
    parts_.kernels.zero(parts_.compute, gradient.view());
  }
  return gradient.slice(0, parts_.layout.unit(use.unit).size);
}

void Zero3::gradients_ready(const Use& use) {
  for (const UnitId unit : completion_.units_in_turn(use.unit)) reduce_unit(unit);
}

void Zero3::reduce_unit(UnitId unit) {
  if (partition_.piece(unit).empty()) return;  // all of it is frozen
  gradients({.unit = unit});                   // zeros, if the micro-batch used the unit on no rank
  Buffer& whole = unit_gradients_[static_cast<std::size_t>(unit)];
  const View slice = gradients_.slice(partition_.in_shard(unit));
  parts_.comm.wait(parts_.compute.record(), "gradients of the unit complete");
  payload_.reduce_scatter(
      whole.view(), slice,
      {"reduce-scatter gradients", Traffic::kTraining, parts_.layout.unit(unit).name});
  accumulate_shard(unit, slice);
  reduced_ = parts_.comm.record();
  whole.reset();  // freed here: this rank's slice lives on in the shard
}

void Zero3::accumulate_shard(UnitId unit, View reduced) {
  accumulator_.add(parts_.comm.stream(), micro_batch_.index, reduced, partition_.in_shard(unit));
}

void Zero3::step(const StepSettings& settings) {
  parts_.compute.wait(reduced_, "gradients reduced");
  const View factor = parts_.clipper.factor(owned_gradients_, settings.gradient_scale);
  update_owned(factor, settings);
  // Nothing to publish: the next use gathers.
  parts_.comm.wait(parts_.compute.record(), "own shards updated");
}

void Zero3::update_owned(View factor, const StepSettings& settings) {
  optimizer_->update(owned_parameters_, owned_gradients_, factor, settings);
}

void Zero3::visit_owned(Category category, const OwnedVisitor& visitor) {
  parts_.compute.wait(parts_.comm.record(), "gradients reduced");
  if (category == Category::kParameters) {
    visit_each(owned_parameters_, visitor);
    return visit_each(frozen_.slices(), visitor);
  }
  if (category == Category::kGradients) return visit_each(owned_gradients_, visitor);
  visit_each(slices_in_shard(partition_, rank(), optimizer_->state(category)), visitor);
}

}  // namespace zerolab
