#include "experiments/checks/expected_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "stages/core/convert.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

using Values = std::vector<float>;

void round_to(DType type, Values& values) {
  if (type == DType::kFloat32) return;
  for (float& value : values) {
    value = type == DType::kBFloat16 ? to_float(to_bfloat16(value)) : to_float(to_float16(value));
  }
}

/// What a rank sends.
Values rounded(std::span<const float> values, DType type) {
  Values copy(values.begin(), values.end());
  round_to(type, copy);
  return copy;
}

void add(Values& sum, std::span<const float> term) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += term[i];
}

Values balanced(std::span<const std::span<const float>> ranks, DType type) {
  if (ranks.size() == 1) return rounded(ranks[0], type);
  Values left = balanced(ranks.first(ranks.size() / 2), type);
  add(left, balanced(ranks.subspan(ranks.size() / 2), type));
  return left;
}

double unit_of(DType type) {
  if (type == DType::kBFloat16) return 0x1p-8;
  return type == DType::kFloat16 ? 0x1p-11 : 0;
}

double roundings_of(std::int64_t terms, SumTypes types) {
  const bool narrow = unit_of(types.travelling) > 0 || unit_of(types.accumulators) > 0;
  return static_cast<double>(narrow ? 2 * terms : terms - 1);
}

}  // namespace

double relative_bound(std::int64_t terms, SumTypes types) {
  const double narrowest = std::max(unit_of(types.travelling), unit_of(types.accumulators));
  const double ku = roundings_of(terms, types) * (narrowest + 0x1p-24);
  return ku < 1 ? ku / (1 - ku) : std::numeric_limits<double>::infinity();
}

Values sum_in_rank_order(const SumTerms& terms, SumTypes types) {
  Values total;
  for (const auto& ranks : terms) {
    Values sum = rounded(ranks.front(), types.travelling);
    for (std::size_t r = 1; r < ranks.size(); ++r) add(sum, rounded(ranks[r], types.travelling));
    round_to(types.travelling, sum);
    if (total.empty()) {
      total = std::move(sum);
    } else {
      add(total, sum);
    }
    if (terms.size() > 1) round_to(types.accumulators, total);
  }
  return total;
}

Values sum_over_tree(const SumTerms& terms, SumTypes types) {
  require(std::has_single_bit(terms.front().size()),
          "[checks] a balanced tree over {} ranks needs a power of two", terms.front().size());
  // levels[l] is empty or the sum of 2^l consecutive reductions.
  std::vector<Values> levels;
  for (const auto& ranks : terms) {
    Values carry = balanced(ranks, types.travelling);
    round_to(types.travelling, carry);
    const bool held = terms.size() > 1;
    std::size_t level = 0;
    for (; level < levels.size() && !levels[level].empty(); ++level) {
      add(levels[level], carry);
      round_to(types.accumulators, levels[level]);
      carry = std::exchange(levels[level], {});
    }
    if (level == levels.size()) levels.emplace_back();
    if (held) round_to(types.accumulators, carry);
    levels[level] = std::move(carry);
  }
  Values smaller;
  for (Values& level : levels) {
    if (level.empty()) continue;
    if (!smaller.empty()) {
      add(level, smaller);
      round_to(types.accumulators, level);
    }
    smaller = std::move(level);
  }
  return smaller;
}

BoundedSum sum_in_any_order(const SumTerms& terms, SumTypes types) {
  const std::size_t count = terms.front().front().size();
  BoundedSum result{std::vector<double>(count), std::vector<double>(count), {}};
  std::int64_t added = 0;
  for (const auto& ranks : terms) {
    for (const auto& term : ranks) {
      ++added;
      for (std::size_t i = 0; i < count; ++i) {
        result.sum[i] += static_cast<double>(term[i]);
        result.bound[i] += std::abs(static_cast<double>(term[i]));
      }
    }
  }
  result.magnitude = result.bound;
  const double relative = relative_bound(added, types);
  const bool fp16 = types.travelling == DType::kFloat16 || types.accumulators == DType::kFloat16;
  const double below_normal = fp16 ? roundings_of(added, types) * 0x1p-25 : 0;
  for (double& bound : result.bound) {
    const double magnitude = bound + below_normal;
    // 0 times no bound is still nothing.
    bound = (magnitude > 0 ? magnitude * relative : 0) + below_normal;
  }
  return result;
}

}  // namespace zerolab
