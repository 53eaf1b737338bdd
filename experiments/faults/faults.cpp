#include "experiments/faults/faults.h"

#include "stages/core/join.h"
#include "stages/core/nearest.h"

namespace zerolab {

std::vector<std::unique_ptr<Fault>> faults() {
  std::vector<std::unique_ptr<Fault>> all;
  all.push_back(make_discard_reduced());
  all.push_back(make_norm_double_reduce());
  all.push_back(make_sum_not_mean());
  all.push_back(make_bucket_overwritten_in_flight());
  all.push_back(make_rank_dependent_collectives());
  all.push_back(make_mean_of_means());
  all.push_back(make_dropout_differs_on_recompute());
  all.push_back(make_overflow_not_agreed());
  all.push_back(make_inf_unchecked_bf16());
  all.push_back(make_unscale_without_scale());
  all.push_back(make_accumulate_low_precision());
  all.push_back(make_matrix_optimizer_on_slice());
  all.push_back(make_one_decay_per_flat_shard());
  return all;
}

std::unique_ptr<Fault> make_fault(const std::string& name) {
  std::vector<std::string> names;
  for (auto& fault : faults()) {
    if (fault->label().name == name) return std::move(fault);
    names.push_back(fault->label().name);
  }
  bad_input("[faults] '{}' is not a fault; did you mean '{}'? Known are {}", name,
            nearest(name, names), joined(names));
}

}  // namespace zerolab
