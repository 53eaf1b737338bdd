#include "experiments/compare/envelope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace zerolab {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;  // of fp32

/// Largest distance between two runs at each step, then the largest so far.
template <class Value>
std::vector<double> spread(const std::vector<std::vector<StepRecord>>& runs, Value value) {
  const std::size_t steps = runs.front().size();
  std::vector<double> widest(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    double low = value(runs.front()[i]);
    double high = low;
    for (const std::vector<StepRecord>& run : runs) {
      low = std::min(low, value(run.at(i)));
      high = std::max(high, value(run.at(i)));
    }
    widest[i] = high - low;
  }
  double largest = 0;
  for (std::size_t i = 0; i < std::min(steps, kEnvelopeWindow); ++i) {
    largest = std::max(largest, widest[i]);
  }
  for (double& width : widest) {
    largest = std::max(largest, width);
    width = kEnvelopeFactor * largest;
  }
  return widest;
}

}  // namespace

Envelope::Envelope(const std::vector<std::vector<StepRecord>>& runs)
    : loss_(spread(runs, [](const StepRecord& step) { return step.loss; })),
      norm_(spread(runs,
                   [](const StepRecord& step) { return static_cast<double>(step.grad_norm); })) {}

std::string Envelope::outside(const std::vector<StepRecord>& reference,
                              const std::vector<StepRecord>& run) const {
  if (run.size() != loss_.size() || reference.size() != loss_.size()) {
    return fmt::format("it has {} steps, the clean runs have {}", run.size(), loss_.size());
  }
  for (std::size_t i = 0; i < run.size(); ++i) {
    const double loss_distance = std::abs(run[i].loss - reference[i].loss);
    // Written so that a NaN is outside.
    if (!(loss_distance <= loss_[i])) {
      return fmt::format(
          "its loss in step {} is {:.3g} from the reference's, outside the {:.3g} "
          "that permuted clean runs allow",
          run[i].step, loss_distance, loss_[i]);
    }
    const auto norm = static_cast<double>(reference[i].grad_norm);
    const double norm_distance = std::abs(static_cast<double>(run[i].grad_norm) - norm);
    const double norm_bound = norm_[i] + 2 * kUnitRoundoff * norm;
    if (!(norm_distance <= norm_bound)) {
      return fmt::format(
          "its gradient norm in step {} is {:.3g} from the reference's, outside the "
          "{:.3g} that permuted clean runs allow",
          run[i].step, norm_distance, norm_bound);
    }
  }
  return "";
}

}  // namespace zerolab
