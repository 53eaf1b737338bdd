#include "experiments/checks/norm_check.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/checks/pack.h"
#include "experiments/checks/ulp.h"

namespace zerolab {
namespace {

constexpr std::int64_t kStepsPerComparison = 64;
/// Clipped gradients may exceed the limit by the rounding of norm and factor.
constexpr double kClippingSlack = 0x1p-22;

double sum_of_squares(const std::vector<float>& values) {
  // Eight running sums: one would wait for itself at each addition.
  std::array<double, 8> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= values.size(); i += sums.size()) {
    for (std::size_t lane = 0; lane < sums.size(); ++lane) {
      const double x = values[i + lane];
      sums[lane] += x * x;
    }
  }
  for (; i < values.size(); ++i) sums[0] += static_cast<double>(values[i]) * values[i];
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return sum;
}

/// False for NaN, whichever side it is on. Below fp32's normal range its unit is absolute.
bool close(double value, double expected, double tolerance) {
  return std::abs(value - expected) <= tolerance * std::abs(expected) + 0x1p-149;
}

}  // namespace

ExpectedNorm expected_norm(double sum, std::int64_t count, double scale, double max_norm) {
  ExpectedNorm expected;
  expected.norm = scale * std::sqrt(sum);
  const double clipped = max_norm / (expected.norm + 1e-6);
  expected.factor = scale * (max_norm > 0 ? std::min(1.0, clipped) : 1.0);
  expected.tolerance = 0x1p-24 + 0x1p-32 + static_cast<double>(count + 8) * 0x1p-53;
  return expected;
}

NormCheck::NormCheck(const CheckContext& context) : context_(context) {}

void NormCheck::gradients_complete(std::int64_t step, Stage& stage) {
  steps_.emplace_back().step = step;
  // Downloads need an address that stays, so the size comes first.
  std::vector<View> mine;
  std::int64_t count = 0;
  stage.visit_owned(Category::kGradients, [&](const OwnedSlice& slice) {
    if (slice.replicated && context_.ranks.rank() != 0) return;
    for (const Segment& segment : slice.segments) {
      mine.push_back(slice.values.slice(segment.flat_begin, segment.count));
      count += segment.count;
    }
  });
  gradients_.resize(static_cast<std::size_t>(count));
  float* to = gradients_.data();
  for (const View& part : mine) {
    context_.kernels.download_fp32(context_.compute, part, to);
    to += part.count;
  }
  steps_.back().count = count;
}

void NormCheck::step_ended(const StepRecord& record, Stage&) {
  context_.compute.synchronize();
  Step& step = steps_.back();
  step.sum_of_squares = sum_of_squares(gradients_);
  step.norm = record.grad_norm;
  step.factor = record.factor;
  // 1 / (N·K) where all micro-batches hold the same number of tokens.
  step.scale = static_cast<double>(context_.model.loss_terms()) /
               (static_cast<double>(record.tokens) * record.loss_scale);
  if (steps_.size() == kStepsPerComparison) compare_with_other_ranks();
}

void NormCheck::compare_with_other_ranks() {
  std::string mine;
  pack_all(mine, std::span<const Step>(steps_));
  std::vector<std::vector<Step>> ranks;
  for (const std::string& text : context_.ranks.gather_texts(mine)) {
    ranks.push_back(Unpacker(text).take_all<Step>());
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    std::vector<Step> by_rank;
    by_rank.reserve(ranks.size());
    for (const auto& steps : ranks) by_rank.push_back(steps.at(i));
    compare(by_rank);
  }
  steps_.clear();
}

void NormCheck::compare(const std::vector<Step>& by_rank) {
  double sum = 0;
  std::int64_t count = 0;
  for (const Step& share : by_rank) {
    sum += share.sum_of_squares;
    count += share.count;
  }
  const double scale = by_rank.front().scale;
  const double limit = context_.config.clip;
  const ExpectedNorm expected = expected_norm(sum, count, scale, limit);
  for (std::size_t r = 0; r < by_rank.size(); ++r) {
    const Step& step = by_rank[r];
    const int rank = static_cast<int>(r);
    if (!same_bits(step.norm, by_rank[0].norm) || !same_bits(step.factor, by_rank[0].factor)) {
      report(
          step, rank, by_rank[0].norm, step.norm,
          fmt::format("step {}: rank {} has norm {:.9g} and factor {:.9g}, rank 0 has {:.9g} "
                      "and {:.9g}; they must be the same bits",
                      step.step, rank, step.norm, step.factor, by_rank[0].norm, by_rank[0].factor));
      continue;
    }
    if (rank != 0) continue;  // the same numbers again
    if (!std::isfinite(sum)) {
      if (!std::isfinite(step.factor)) continue;  // nobody updates
      report(step, rank, sum, step.factor,
             fmt::format("step {}: the reduced gradient is not finite, but it was multiplied by "
                         "{:.9g} and applied; such a step must be skipped",
                         step.step, step.factor));
      continue;
    }
    if (!close(step.norm, expected.norm, expected.tolerance)) {
      report(step, rank, expected.norm, step.norm,
             fmt::format("step {}: the reported gradient norm is {:.9g}, but the reduced gradients "
                         "have norm {:.9g} ({:.6g} times as much)",
                         step.step, step.norm, expected.norm, step.norm / expected.norm));
    }
    if (!close(step.factor, expected.factor, expected.tolerance)) {
      report(step, rank, expected.factor, step.factor,
             fmt::format("step {}: gradients were multiplied by {:.9g}, but the right factor is "
                         "{:.9g} = scale {:.9g} · min(1, {} / norm {:.9g})",
                         step.step, step.factor, expected.factor, scale,
                         limit > 0 ? fmt::format("{:g}", limit) : "no limit", expected.norm));
    }
    const double applied = std::sqrt(sum) * step.factor;
    if (limit > 0 && !(applied <= limit * (1 + kClippingSlack))) {
      report(step, rank, limit, applied,
             fmt::format("step {}: after clipping the gradient's norm is {:.9g}, above the limit "
                         "{:g}",
                         step.step, applied, limit));
    }
  }
}

void NormCheck::report(const Step& step, int rank, double expected, double value,
                       std::string message) {
  Finding finding;
  finding.check = name();
  finding.step = step.step;
  finding.phase = "norm";
  finding.rank = rank;
  finding.expected = expected;
  finding.value = value;
  finding.message = std::move(message);
  findings_.add(std::move(finding));
}

std::vector<Finding> NormCheck::findings() {
  compare_with_other_ranks();
  std::vector<Finding> found = findings_.take();
  // All ranks have found the same.
  if (context_.ranks.rank() != 0) found.clear();
  return found;
}

}  // namespace zerolab
