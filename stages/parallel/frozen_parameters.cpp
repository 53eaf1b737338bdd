#include "stages/parallel/frozen_parameters.h"

namespace zerolab {

FrozenParameters::FrozenParameters(const StageParts& parts)
    : partition_(Partition::by_unit(parts.layout, 1, TensorKind::kFrozen)),
      values_(parts.allocate(partition_.flat_size(), Category::kParameters, "frozen parameters")),
      slices_(replicated_slices(partition_, values_.view())) {
  parts.write_initial(slices_);
}

FrozenShard::FrozenShard(const StageParts& parts)
    : partition_(Partition::by_unit(parts.layout, parts.comm.world_size(), TensorKind::kFrozen)),
      values_(parts.allocate(partition_.owned_size(), Category::kParameters, "frozen parameters")),
      slices_(slices_in_shard(partition_, parts.comm.rank(), values_.view())) {
  parts.write_initial(slices_);
}

Buffer FrozenShard::gather(const StageParts& parts, UnitId id) const {
  const std::string& unit = parts.layout.unit(id).name;
  const std::int64_t size = partition_.piece(id).size();
  if (size == 0) return {};
  Buffer whole = parts.allocate_on(parts.comm.stream(), size, Category::kGatheredParameters,
                                   "frozen parameters of " + unit);
  parts.comm.all_gather(values_.slice(partition_.in_shard(id)), whole.view(),
                        {"all-gather frozen parameters", Traffic::kTraining, unit});
  return whole;
}

}  // namespace zerolab
