#include "experiments/compare/permuted_order.h"

#include <algorithm>
#include <numeric>

#include "stages/data/permutation.h"

namespace zerolab {

std::vector<std::vector<std::int64_t>> permuted_orders(std::int64_t size, int count,
                                                       std::uint64_t seed) {
  std::vector<std::int64_t> identity(static_cast<std::size_t>(size));
  std::iota(identity.begin(), identity.end(), std::int64_t{0});
  std::vector<std::vector<std::int64_t>> orders = {{identity.rbegin(), identity.rend()}};
  for (std::uint32_t pass = 0; static_cast<int>(orders.size()) < count; ++pass) {
    const Permutation permutation(size, seed, pass);
    std::vector<std::int64_t> order(identity.size());
    std::ranges::transform(identity, order.begin(), permutation);
    if (order != identity || size < 2) orders.push_back(std::move(order));
  }
  return orders;
}

}  // namespace zerolab
