/// \file
/// Few rows in which every two values of different settings meet, for models on which the full
/// product of all settings would take too long.
#pragma once

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace zerolab {

/// Value b of setting a meets value d of setting c, a < c.
using ValuePair = std::tuple<int, int, int, int>;

/// All pairs of values of different settings; setting i has values 0 … sizes[i] − 1.
inline std::set<ValuePair> all_pairs(const std::vector<int>& sizes) {
  std::set<ValuePair> pairs;
  for (int a = 0; a < static_cast<int>(sizes.size()); ++a) {
    for (int c = a + 1; c < static_cast<int>(sizes.size()); ++c) {
      for (int b = 0; b < sizes[static_cast<std::size_t>(a)]; ++b) {
        for (int d = 0; d < sizes[static_cast<std::size_t>(c)]; ++d) pairs.insert({a, b, c, d});
      }
    }
  }
  return pairs;
}

/// The pairs that meet in `row`; a value of −1 is not chosen yet and meets nothing.
inline std::vector<ValuePair> pairs_of(const std::vector<int>& row) {
  std::vector<ValuePair> pairs;
  for (int a = 0; a < static_cast<int>(row.size()); ++a) {
    for (int c = a + 1; c < static_cast<int>(row.size()); ++c) {
      const int b = row[static_cast<std::size_t>(a)], d = row[static_cast<std::size_t>(c)];
      if (b >= 0 && d >= 0) pairs.push_back({a, b, c, d});
    }
  }
  return pairs;
}

/// Greedy: each row starts from the first pair that no earlier row has, and each of its other
/// settings takes the value that adds the most new pairs. Not the fewest rows there are, but close
/// to the product of the two largest sizes, which no table can go below.
inline std::vector<std::vector<int>> covering_array(const std::vector<int>& sizes) {
  std::set<ValuePair> open = all_pairs(sizes);
  const auto gain = [&](const std::vector<int>& row) {
    return std::ranges::count_if(pairs_of(row), [&](const auto& pair) { return open.count(pair); });
  };
  std::vector<std::vector<int>> rows;
  while (!open.empty()) {
    std::vector<int> row(sizes.size(), -1);
    const auto [a, b, c, d] = *open.begin();
    row[static_cast<std::size_t>(a)] = b;
    row[static_cast<std::size_t>(c)] = d;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (row[i] >= 0) continue;
      std::vector<std::pair<std::ptrdiff_t, int>> gains;
      for (int value = 0; value < sizes[i]; ++value) {
        row[i] = value;
        gains.push_back({gain(row), -value});  // of equals the first
      }
      row[i] = -std::ranges::max(gains).second;
    }
    for (const ValuePair& pair : pairs_of(row)) open.erase(pair);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace zerolab
