#include "experiments/compare/envelope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace zerolab {
namespace {

constexpr double kUnitRoundoff = 0x1p-24;  // of fp32

/// Largest distance between two runs at each step, then the largest so far. NaN is no value.
template <class Value>
std::vector<double> spread(const std::vector<std::vector<StepRecord>>& runs, Value value) {
  const std::size_t steps = runs.front().size();
  std::vector<double> widest(steps);
  std::size_t window = 0;  // ends behind the last of the first steps that say something
  std::size_t telling = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const std::vector<StepRecord>& run : runs) {
      const double x = value(run.at(i));
      if (std::isnan(x)) continue;
      low = std::min(low, x);
      high = std::max(high, x);
    }
    widest[i] = high > low ? high - low : 0;
    if (high >= low && telling++ < kEnvelopeWindow) window = i + 1;
  }
  double largest = 0;
  for (std::size_t i = 0; i < window; ++i) largest = std::max(largest, widest[i]);
  for (double& width : widest) {
    largest = std::max(largest, width);
    width = kEnvelopeFactor * largest;
  }
  return widest;
}

}  // namespace

Envelope::Envelope(const std::vector<std::vector<StepRecord>>& runs)
    : loss_(spread(runs, [](const StepRecord& step) { return step.loss; })),
      norm_(
          spread(runs, [](const StepRecord& step) { return static_cast<double>(step.grad_norm); })),
      skipped_(loss_.size()),
      kept_(loss_.size()) {
  for (const std::vector<StepRecord>& run : runs) {
    for (std::size_t i = 0; i < loss_.size(); ++i) (run[i].skipped ? skipped_ : kept_)[i] = true;
  }
}

double Envelope::norm(std::size_t i, double of) const {
  return norm_.at(i) + (std::isfinite(of) ? 2 * kUnitRoundoff * of : 0);
}

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
    if (!(run[i].skipped ? skipped_ : kept_)[i]) {
      return fmt::format("it {} step {}, which no permuted clean run does",
                         run[i].skipped ? "skips" : "does not skip", run[i].step);
    }
    if (run[i].skipped || reference[i].skipped) continue;
    const auto reference_norm = static_cast<double>(reference[i].grad_norm);
    const double norm_distance = std::abs(static_cast<double>(run[i].grad_norm) - reference_norm);
    const double norm_bound = norm(i, reference_norm);
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
