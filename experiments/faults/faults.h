/// \file
/// The museum of faults.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/faults/fault.h"

namespace zerolab {

/// Every fault that `--fault` knows, in the order in which the museum is walked through.
std::vector<std::unique_ptr<Fault>> faults();

/// \throws BadInput for an unknown name, with the nearest.
std::unique_ptr<Fault> make_fault(const std::string& name);

// One a file.
std::unique_ptr<Fault> make_discard_reduced();
std::unique_ptr<Fault> make_norm_double_reduce();
std::unique_ptr<Fault> make_sum_not_mean();
std::unique_ptr<Fault> make_bucket_overwritten_in_flight();
std::unique_ptr<Fault> make_rank_dependent_collectives();
std::unique_ptr<Fault> make_mean_of_means();
std::unique_ptr<Fault> make_dropout_differs_on_recompute();
std::unique_ptr<Fault> make_overflow_not_agreed();
std::unique_ptr<Fault> make_inf_unchecked_bf16();
std::unique_ptr<Fault> make_unscale_without_scale();
std::unique_ptr<Fault> make_accumulate_low_precision();
std::unique_ptr<Fault> make_matrix_optimizer_on_slice();
std::unique_ptr<Fault> make_one_decay_per_flat_shard();

}  // namespace zerolab
