#include "stages/kernels/cpu/column_sums.h"

namespace zerolab::cpu {
namespace {

// Columns of one task: narrow, so that even a layer of 128 has two.
constexpr std::int64_t kStrip = 64;

}  // namespace

void add_column_sums(ThreadTeam& team, const float* x, float* sums, std::int64_t rows,
                     std::int64_t columns) {
  team.for_ranges(columns, kStrip, [=](Range strip) {
    float total[kStrip] = {};
    const std::int64_t width = strip.size();
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* row = x + r * columns + strip.begin;
      for (std::int64_t j = 0; j < width; ++j) total[j] += row[j];
    }
    for (std::int64_t j = 0; j < width; ++j) sums[strip.begin + j] += total[j];
  });
}

}  // namespace zerolab::cpu
