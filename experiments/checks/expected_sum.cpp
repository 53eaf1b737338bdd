#include "experiments/checks/expected_sum.h"

#include <bit>
#include <cmath>

#include "stages/core/error.h"

namespace zerolab {
namespace {

using Values = std::vector<float>;

Values copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

void add(Values& sum, std::span<const float> term) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += term[i];
}

Values balanced(std::span<const std::span<const float>> ranks) {
  if (ranks.size() == 1) return copy_of(ranks[0]);
  Values left = balanced(ranks.first(ranks.size() / 2));
  add(left, balanced(ranks.subspan(ranks.size() / 2)));
  return left;
}

}  // namespace

Values sum_in_rank_order(const SumTerms& terms) {
  Values total;
  for (const auto& ranks : terms) {
    Values sum = copy_of(ranks.front());
    for (std::size_t r = 1; r < ranks.size(); ++r) add(sum, ranks[r]);
    if (total.empty()) {
      total = std::move(sum);
    } else {
      add(total, sum);
    }
  }
  return total;
}

Values sum_over_tree(const SumTerms& terms) {
  require(std::has_single_bit(terms.front().size()),
          "[checks] a balanced tree over {} ranks needs a power of two", terms.front().size());
  // levels[l] is empty or the sum of 2^l consecutive reductions.
  std::vector<Values> levels;
  for (const auto& ranks : terms) {
    Values carry = balanced(ranks);
    std::size_t level = 0;
    for (; level < levels.size() && !levels[level].empty(); ++level) {
      add(levels[level], carry);
      carry = std::exchange(levels[level], {});
    }
    if (level == levels.size()) levels.emplace_back();
    levels[level] = std::move(carry);
  }
  Values smaller;
  for (Values& level : levels) {
    if (level.empty()) continue;
    if (!smaller.empty()) add(level, smaller);
    smaller = std::move(level);
  }
  return smaller;
}

BoundedSum sum_in_any_order(const SumTerms& terms) {
  const std::size_t count = terms.front().front().size();
  BoundedSum result{std::vector<double>(count), std::vector<double>(count)};
  std::size_t additions = 0;
  for (const auto& ranks : terms) {
    for (const auto& term : ranks) {
      ++additions;
      for (std::size_t i = 0; i < count; ++i) {
        result.sum[i] += static_cast<double>(term[i]);
        result.bound[i] += std::abs(static_cast<double>(term[i]));
      }
    }
  }
  const double nu = static_cast<double>(additions - 1) * 0x1p-24;
  for (double& bound : result.bound) bound *= nu / (1 - nu);
  return result;
}

}  // namespace zerolab
