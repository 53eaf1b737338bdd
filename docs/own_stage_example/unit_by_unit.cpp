#include "unit_by_unit.h"

#include "stages/parallel/owned_slices.h"

using namespace zerolab;

UnitByUnit::UnitByUnit(StageParts parts)
    : parts_(std::move(parts)),
      units_(Partition::by_unit(parts_.layout, 1)),
      parameters_(parts_.allocate(units_.flat_size(), Category::kParameters, "parameters")),
      gradients_(parts_.allocate(units_.flat_size(), Category::kGradients, "gradients")),
      frozen_(parts_),
      accumulator_(parts_.accumulator(units_.flat_size())),
      optimizer_(parts_.optimizer(units_, units_.flat_size())),
      completion_(units_) {
  // Drawn from (seed, tensor, element): the same on all ranks, without a broadcast.
  for (const OwnedSlice& slice : replicated_slices(units_, parameters_.view())) {
    parts_.initial.write(parts_.compute, slice);
  }
}

void UnitByUnit::begin(const MicroBatch& micro_batch) {
  const bool fresh = micro_batch.index == 0 || micro_batch_.reduce;
  micro_batch_ = micro_batch;
  completion_.begin(micro_batch.uses);
  if (!fresh || !has_backward(micro_batch)) return;
  parts_.compute.wait(reduced_, "gradient buffer free");
  parts_.kernels.zero(parts_.compute, gradients_.view());
}

UnitView UnitByUnit::acquire(const Use& use) {
  return {parameters_.slice(units_.unit(use.unit)), frozen_.unit(use.unit)};
}

View UnitByUnit::gradients(const Use& use) { return gradients_.slice(units_.unit(use.unit)); }

void UnitByUnit::gradients_ready(const Use& use) {
  if (!micro_batch_.reduce) return;
  for (const UnitId unit : completion_.units_in_turn(use.unit)) reduce_unit(unit);
}

void UnitByUnit::reduce_unit(UnitId unit) {
  const Range place = units_.piece(unit);
  const View gradient = gradients_.slice(place);
  parts_.comm.wait(parts_.compute.record(), "gradient of the unit complete");
  parts_.comm.all_reduce(
      gradient, {"all-reduce gradients", Traffic::kTraining, parts_.layout.unit(unit).name});
  accumulator_.add(parts_.comm.stream(), micro_batch_.index, gradient, place);
  reduced_ = parts_.comm.record();
}

void UnitByUnit::step(const StepSettings& settings) {
  parts_.compute.wait(reduced_, "gradients reduced");
  const View sums = accumulator_.active() ? accumulator_.total() : gradients_.view();
  const std::vector<OwnedSlice> gradients = replicated_slices(units_, sums);
  const std::vector<OwnedSlice> parameters = replicated_slices(units_, parameters_.view());
  const View factor = parts_.clipper.factor(gradients, settings.gradient_scale);
  optimizer_->update(parameters, gradients, factor, settings);
}

void UnitByUnit::visit_owned(Category category, const OwnedVisitor& visitor) {
  parts_.compute.wait(reduced_, "gradients reduced");
  const View sums = accumulator_.active() ? accumulator_.total() : gradients_.view();
  const View values = category == Category::kParameters  ? parameters_.view()
                      : category == Category::kGradients ? sums
                                                         : optimizer_->state(category);
  visit_each(replicated_slices(units_, values), visitor);
  if (category == Category::kParameters) visit_each(frozen_.slices(), visitor);
}
