/// \file
/// Bytes a parameter by whoever counted them: the formulas in circulation, item by item.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/plan/recipe.h"
#include "stages/memory/category.h"

namespace zerolab {

/// One number kept for every parameter.
struct StateItem {
  std::string name;  ///< "fp32 master weights"
  Category category{};
  double bytes = 0;  ///< a parameter
  /// The first ZeRO stage that shards it over the ranks.
  int sharded_from = 1;
};

/// 0 for "ddp", 1 for "zero1", … \throws BadInput for another name.
int zero_stage(const std::string& stage);

/// The items of a stage's model states. All but `kMeasured`, which is what a run of ours holds
/// without its padding, are published:
///
///   zero       2 p + 2 g + 12 = 16 (ZeRO, arXiv 1910.02054, section 3.1; K = 12)
///   deepspeed  the 18 that its estimators shard: an fp32 gradient more than ZeRO, and without the
///              copy that the stage keeps whole (docs/code-docs/source/memory.rst)
///   megatron   20 with 16-bit gradients, 18 where gradients are fp32 (bf16), 16 in fp32
///              (Megatron-LM, docs/user-guide/features/dist_optimizer.md)
///   infinity   20: 16-bit p and g, fp32 p, g, m and v (ZeRO-Infinity, arXiv 2104.07857)
///
/// \throws BadInput as `validate` does.
std::vector<StateItem> state_items(const Recipe& recipe, const std::string& stage);

/// Sum over the items: 16, 18, 20.
double bytes_per_parameter(const std::vector<StateItem>& items);

/// The same on one rank of N: sharded items count 1/N.
double bytes_per_parameter(const std::vector<StateItem>& items, int stage, std::int64_t ranks);

/// Bytes of Ψ parameters on one rank of N, without padding, rounded to whole bytes.
CategoryBytes state_bytes(const std::vector<StateItem>& items, int stage, std::int64_t parameters,
                          std::int64_t ranks);

}  // namespace zerolab
