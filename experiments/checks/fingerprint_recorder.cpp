#include "experiments/checks/fingerprint_recorder.h"

#include "experiments/runner/part_settings.h"

namespace zerolab {

FingerprintRecorder::FingerprintRecorder(const CheckContext& context)
    : context_(context),
      states_(optimizer_states_of(context.config)),
      tensors_(static_cast<std::int64_t>(context.model.layout().tensors().size())) {
  const auto rows = kFirstStateRow + static_cast<std::int64_t>(states_.size());
  sums_ = context_.device.allocate(DType::kUInt64, rows * tensors_, Category::kChecks,
                                   "fingerprints", context_.compute);
}

void FingerprintRecorder::started(Stage& stage) {
  context_.kernels.zero(context_.compute, sums_.view());
  hash_states_and_keep(0, stage);
}

void FingerprintRecorder::gradients_complete(std::int64_t, Stage& stage) {
  context_.kernels.zero(context_.compute, sums_.view());
  hash(stage, Category::kGradients, kGradientRow);
}

void FingerprintRecorder::step_ended(const StepRecord& record, Stage& stage) {
  hash_states_and_keep(record.step, stage);
}

void FingerprintRecorder::hash_states_and_keep(std::int64_t step, Stage& stage) {
  hash(stage, Category::kParameters, kParameterRow);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    hash(stage, states_[i], kFirstStateRow + static_cast<std::int64_t>(i));
  }
  Step& kept = steps_.emplace_back();
  kept.step = step;
  kept.sums.resize(static_cast<std::size_t>(sums_.count()));
  context_.kernels.download(context_.compute, sums_.view(), kept.sums.data());
}

void FingerprintRecorder::hash(Stage& stage, Category category, std::int64_t row) {
  const View out = sums_.slice(row * tensors_, tensors_);
  stage.visit_owned(category, [&](const OwnedSlice& slice) {
    if (slice.replicated && context_.ranks.rank() != 0) return;
    context_.kernels.fingerprint(context_.compute, slice.values, slice.segments, out);
  });
}

std::vector<Finding> FingerprintRecorder::findings() {
  context_.compute.synchronize();
  std::vector<Finding> changed;
  for (std::int64_t t = 0; t < tensors_; ++t) {
    const TensorSpec& tensor = context_.model.layout().tensor(static_cast<int>(t));
    if (!tensor.frozen) continue;
    const auto at = static_cast<std::size_t>(kParameterRow * tensors_ + t);
    for (const Step& step : steps_) {
      if (step.sums[at] == steps_.front().sums[at]) continue;
      Finding& finding = changed.emplace_back();
      finding.check = name();
      finding.step = step.step;
      finding.phase = kFingerprintPhases[kParameterRow];
      finding.tensor = tensor.name;
      finding.rank = context_.ranks.rank();
      finding.message =
          fmt::format("step {}: {} is frozen, but what rank {} holds of it has changed", step.step,
                      tensor.name, finding.rank);
      break;
    }
  }
  return changed;
}

std::vector<StepFingerprints> FingerprintRecorder::take() {
  context_.compute.synchronize();
  std::vector<StepFingerprints> taken;
  for (const Step& step : steps_) {
    // There is no gradient before the first step.
    taken.push_back({step.step,
                     {step.step == 0 ? std::vector<std::uint64_t>() : row(step, kGradientRow),
                      row(step, kParameterRow), optimizer_state(step)}});
  }
  steps_.clear();
  return taken;
}

std::vector<std::uint64_t> FingerprintRecorder::row(const Step& step, std::int64_t row) const {
  const auto begin = step.sums.begin() + row * tensors_;
  return {begin, begin + tensors_};
}

std::vector<std::uint64_t> FingerprintRecorder::optimizer_state(const Step& step) const {
  if (states_.empty()) return {};
  std::vector<std::uint64_t> combined(static_cast<std::size_t>(tensors_));
  // Linear, so that shares of ranks still add up; odd factors that differ, so that exchanged
  // moments do not hash alike.
  std::uint64_t factor = 1;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const auto state = row(step, kFirstStateRow + static_cast<std::int64_t>(i));
    for (std::size_t t = 0; t < combined.size(); ++t) combined[t] += factor * state[t];
    factor += 2;
  }
  return combined;
}

}  // namespace zerolab
