#include "experiments/checks/reduction_check.h"

#include <cmath>

#include "experiments/checks/handed_chunk.h"
#include "experiments/checks/pack.h"
#include "experiments/checks/ulp.h"
#include "experiments/runner/part_settings.h"
#include "experiments/runner/results.h"
#include "stages/parallel/forwarding_stage.h"

namespace zerolab {
namespace {

constexpr std::int64_t kFullSteps = 3;
constexpr double kLaterFraction = 0.01;
/// Copies of one step on one rank, at most (elements; 1 GiB of fp32).
constexpr std::int64_t kLargestCopies = std::int64_t{1} << 28;
/// Copies that are kept before the ranks compare (elements).
constexpr std::int64_t kKeptElements = std::int64_t{1} << 22;
/// Elements exchanged at once, of each reduction.
constexpr std::int64_t kExchanged = std::int64_t{1} << 19;

}  // namespace

class ReductionCheck::Probe final : public ForwardingStage {
 public:
  Probe(Stage& inner, ReductionCheck& check, std::size_t units)
      : ForwardingStage(inner), check_(check), gradients_(units), unreduced_(units) {}

  void begin(const MicroBatch& micro_batch) override {
    check_.micro_batch_begins(micro_batch);
    if (micro_batch.index == 0) unreduced_.assign(unreduced_.size(), false);
    reduces_ = micro_batch.reduce;
    if (reduces_ && has_backward(micro_batch)) hand_over_unused(micro_batch);
    inner_.begin(micro_batch);
  }
  View gradients(const Use& use) override {
    return gradients_.at(static_cast<std::size_t>(use.unit)) = inner_.gradients(use);
  }
  void gradients_ready(const Use& use) override {
    unreduced_.at(static_cast<std::size_t>(use.unit)) = !reduces_;
    check_.handed_over(use.unit, gradients_.at(static_cast<std::size_t>(use.unit)));
    inner_.gradients_ready(use);
  }

 private:
  /// In local order, units of which the micro-batches before have left a sum, and to which this one
  /// adds nothing.
  void hand_over_unused(const MicroBatch& micro_batch) {
    std::vector<bool> left = unreduced_;
    for (const Use& use : micro_batch.uses) {
      if (use.completes_gradient) left.at(static_cast<std::size_t>(use.unit)) = false;
    }
    for (std::size_t unit = 0; unit < left.size(); ++unit) {
      if (left[unit]) check_.handed_over(static_cast<UnitId>(unit), gradients_[unit]);
    }
  }

  ReductionCheck& check_;
  std::vector<View> gradients_;  // by unit: where backward has added
  std::vector<bool> unreduced_;  // by unit: complete in a micro-batch that was not reduced
  bool reduces_ = true;          // the present micro-batch
};

ReductionCheck::ReductionCheck(const CheckContext& context)
    : context_(context),
      order_known_(context.config.reduction == Reduction::kOrdered ||
                   context.config.reduction == Reduction::kTree ||
                   context.ranks.world_size() <= 2) {
  const Precision precision = precision_of(context.config, context.order);
  types_ = {precision.reduce, precision.accumulate};
  may_overflow_ = precision.has_master_weights();
}

std::unique_ptr<Stage> ReductionCheck::probe(Stage& inner) {
  return std::make_unique<Probe>(inner, *this, context_.model.layout().units().size());
}

ElementSample ReductionCheck::choose(std::int64_t step) const {
  const ParameterLayout& layout = context_.model.layout();
  const std::uint64_t seed = context_.config.seed;
  if (step > kFullSteps) return ElementSample::drawn(layout, kLaterFraction, seed, step);
  const double copies = static_cast<double>(layout.parameter_count()) * context_.config.accumulate;
  const double fraction = static_cast<double>(kLargestCopies) / copies;
  return fraction >= 1 ? ElementSample::all(layout)
                       : ElementSample::drawn(layout, fraction, seed, step);
}

void ReductionCheck::step_begins(std::int64_t step, Stage&) {
  steps_.push_back({step, choose(step), {}, {}});
}

void ReductionCheck::micro_batch_begins(const MicroBatch& micro_batch) {
  recording_ = micro_batch.reduce && has_backward(micro_batch);
  if (!recording_) return;
  // Units that are not handed over contribute zeros.
  Step& step = steps_.back();
  step.handed.emplace_back(static_cast<std::size_t>(step.sample.count()), 0.0F);
  kept_elements_ += step.sample.count();
}

void ReductionCheck::handed_over(UnitId unit, View gradients) {
  if (!recording_) return;
  const ParameterLayout& layout = context_.model.layout();
  Step& step = steps_.back();
  for (const TensorPlace& place : layout.unit(unit).places) {
    if (layout.tensor(place.tensor).frozen) continue;
    const Range whole{0, layout.tensor(place.tensor).count()};
    for (const SampledRun& run : step.sample.within(place.tensor, whole)) {
      context_.kernels.download_fp32(
          context_.compute, gradients.slice(place.offset + run.elements.begin, run.elements.size()),
          step.handed.back().data() + run.offset);
    }
  }
}

void ReductionCheck::gradients_complete(std::int64_t, Stage& stage) {
  if (!ownership_checked_) ownership_ = owned_runs(stage, Category::kGradients);
  Step& step = steps_.back();
  stage.visit_owned(Category::kGradients, [&](const OwnedSlice& slice) {
    for (const Segment& s : slice.segments) {
      for (const SampledRun& run :
           step.sample.within(s.tensor, {s.tensor_begin, s.tensor_begin + s.count})) {
        const auto size = static_cast<std::size_t>(run.elements.size());
        Owned& owned = step.owned.emplace_back(Owned{run, std::vector<float>(size)});
        const std::int64_t begin = s.flat_begin + run.elements.begin - s.tensor_begin;
        context_.kernels.download_fp32(
            context_.compute, slice.values.slice(begin, run.elements.size()), owned.values.data());
      }
    }
  });
}

void ReductionCheck::step_ended(const StepRecord&, Stage&) {
  if (kept_elements_ > kKeptElements) compare_with_other_ranks();
}

void ReductionCheck::compare_with_other_ranks() {
  context_.compute.synchronize();
  if (!ownership_checked_) {
    std::string mine;
    pack_all(mine, std::span<const OwnedRun>(ownership_));
    std::vector<std::vector<OwnedRun>> by_rank;
    for (const std::string& text : context_.ranks.gather_texts(mine)) {
      by_rank.push_back(Unpacker(text).take_all<OwnedRun>());
    }
    if (context_.ranks.rank() == 0) {
      for (Finding& finding : check_ownership(context_.model.layout(), Category::kGradients,
                                              by_rank, name(), kFingerprintPhases[0])) {
        findings_.add(std::move(finding));
      }
    }
    ownership_checked_ = true;
  }
  for (const Step& step : steps_) compare(step);
  steps_.clear();
  kept_elements_ = 0;
}

void ReductionCheck::compare(const Step& step) {
  std::vector<Difference> differences(context_.model.layout().tensors().size());
  for (std::int64_t begin = 0; begin < step.sample.count(); begin += kExchanged) {
    const Range chunk{begin, std::min(begin + kExchanged, step.sample.count())};
    std::string mine;
    for (const auto& handed : step.handed) {
      mine.append(reinterpret_cast<const char*>(handed.data() + chunk.begin),
                  HandedChunk::bytes(chunk.size()));
    }
    HandedChunk handed(context_.ranks.gather_texts(mine), step.handed.size(), chunk);
    for (const Owned& owned : step.owned) {
      const Range part =
          intersect({owned.run.offset, owned.run.offset + owned.run.elements.size()}, chunk);
      if (part.empty()) continue;
      const std::int64_t skipped = part.begin - owned.run.offset;
      compare(
          handed.terms(part),
          std::span(owned.values)
              .subspan(static_cast<std::size_t>(skipped), static_cast<std::size_t>(part.size())),
          owned.run.elements.begin + skipped,
          differences[static_cast<std::size_t>(owned.run.tensor)]);
    }
  }
  for (std::size_t t = 0; t < differences.size(); ++t) {
    if (differences[t].differing > 0) report(step, static_cast<int>(t), differences[t]);
  }
}

void ReductionCheck::compare(const SumTerms& terms, std::span<const float> values,
                             std::int64_t first_element, Difference& difference) const {
  const bool half = types_.travelling == DType::kFloat16 || types_.accumulators == DType::kFloat16;
  const double overflow_at = half ? 65520 : 0x1.FEp127;  // rounds to infinity in fp16, in bf16
  std::vector<float> exact;
  BoundedSum bounded;
  if (!order_known_) {
    bounded = sum_in_any_order(terms, types_);
  } else if (context_.config.reduction == Reduction::kTree) {
    exact = sum_over_tree(terms, types_);
  } else {
    exact = sum_in_rank_order(terms, types_);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float value = values[i];
    // A NaN is wrong on either side, but in mixed precision infinities of several ranks may meet:
    // then NORM sees to it that the step is skipped.
    const double expected = order_known_ ? static_cast<double>(exact[i]) : bounded.sum[i];
    // In an unknown order a partial sum may overflow although the whole would not.
    const bool in_range = order_known_ ? std::isfinite(expected)
                                       : bounded.magnitude[i] + bounded.bound[i] < overflow_at;
    const bool overflowed = may_overflow_ && !in_range && !std::isfinite(value);
    const bool right =
        overflowed || (order_known_ ? same_bits(value, exact[i]) && !std::isnan(value)
                                    : std::abs(value - bounded.sum[i]) <= bounded.bound[i]);
    ++difference.looked_at;
    if (right) continue;
    const std::int64_t element = first_element + static_cast<std::int64_t>(i);
    if (difference.differing++ == 0 || element < difference.element) {
      difference.element = element;
      difference.value = value;
      difference.expected = expected;
    }
  }
}

void ReductionCheck::report(const Step& step, int tensor, const Difference& difference) {
  Finding finding;
  finding.check = name();
  finding.step = step.step;
  finding.phase = kFingerprintPhases[0];
  finding.tensor = context_.model.layout().tensor(tensor).name;
  finding.rank = context_.ranks.rank();
  finding.element = difference.element;
  finding.expected = difference.expected;
  finding.value = difference.value;
  finding.ulp = ulp_distance(static_cast<float>(difference.expected), difference.value);
  finding.message = fmt::format(
      "step {}: element {} of {} is {:.9g} on rank {} after the reduction, but what the ranks "
      "handed over adds up to {:.9g} ({} ULP apart; {} of {} elements looked at differ)",
      step.step, finding.element, finding.tensor, difference.value, finding.rank,
      difference.expected, finding.ulp, difference.differing, difference.looked_at);
  findings_.add(std::move(finding));
}

std::vector<Finding> ReductionCheck::findings() {
  compare_with_other_ranks();
  return findings_.take();
}

}  // namespace zerolab
