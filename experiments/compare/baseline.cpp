#include "experiments/compare/baseline.h"

#include <algorithm>
#include <cmath>

#include "experiments/compare/envelope.h"
#include "experiments/config/asks_for.h"
#include "experiments/report/report_json.h"
#include "stages/core/error.h"
#include "stages/core/join.h"

namespace zerolab {
namespace {

/// \throws BadInput for the first option that changes what is trained. Threads, buckets, overlap
/// and activation checkpoints do not, where the order of the sums is ours; --data may have another
/// path and the same content.
void require_same_training(const std::string& directory, const RunConfig& baseline,
                           const RunConfig& now) {
  const auto same = [&](const char* option, const auto& before, const auto& after) {
    if (before == after) return;
    bad_input("[baseline] {} was made with {} {}, this run has {}; repeat it with the same options",
              directory, option, before, after);
  };
  same("--model", baseline.model, now.model);
  same("--steps", baseline.steps, now.steps);
  same("--micro-batch", baseline.micro_batch, now.micro_batch);
  same("--seq", baseline.sequence, now.sequence);
  same("--ranks", baseline.ranks, now.ranks);
  same("--accumulate", baseline.accumulate, now.accumulate);
  same("--accumulation-order", name_of(baseline.accumulation_order),
       name_of(now.accumulation_order));
  same("--reduction", name_of(baseline.reduction), name_of(now.reduction));
  same("--precision", baseline.precision, now.precision);
  same("--reduce-dtype", baseline.reduce_dtype, now.reduce_dtype);
  same("--accumulate-dtype", baseline.accumulate_dtype, now.accumulate_dtype);
  same("--loss-scale", baseline.loss_scale.fixed, now.loss_scale.fixed);
  same("--optimizer", baseline.optimizer.name, now.optimizer.name);
  same("--beta1", baseline.optimizer.beta1, now.optimizer.beta1);
  same("--beta2", baseline.optimizer.beta2, now.optimizer.beta2);
  same("--epsilon", baseline.optimizer.epsilon, now.optimizer.epsilon);
  same("--momentum", baseline.optimizer.momentum, now.optimizer.momentum);
  same("--muon-momentum", baseline.optimizer.muon_momentum, now.optimizer.muon_momentum);
  same("--muon-adamw-lr", baseline.adamw_learning_rate, now.adamw_learning_rate);
  same("--lamb-norms", name_of(baseline.optimizer.lamb_norms), name_of(now.optimizer.lamb_norms));
  same("--weight-decay", baseline.optimizer.weight_decay, now.optimizer.weight_decay);
  same("--param-group", joined(baseline.groups), joined(now.groups));
  same("--freeze", joined(baseline.frozen), joined(now.frozen));
  same("--lr", baseline.learning_rate, now.learning_rate);
  same("--warmup", baseline.warmup_steps, now.warmup_steps);
  same("--warmup-shape", name_of(baseline.warmup_shape), name_of(now.warmup_shape));
  same("--warmup-min-lr", baseline.warmup_min_lr, now.warmup_min_lr);
  same("--schedule", name_of(baseline.decay), name_of(now.decay));
  same("--final-lr-fraction", baseline.final_lr_fraction, now.final_lr_fraction);
  same("--schedule-steps", baseline.schedule_steps, now.schedule_steps);
  same("steps counted", name_of(baseline.step_count), name_of(now.step_count));
  same("--clip", baseline.clip, now.clip);
  same("--seed", baseline.seed, now.seed);
  same("--dropout", baseline.dropout, now.dropout);
  same("--padding", baseline.padding, now.padding);
  same("--skip-block-every", baseline.skip_block_every, now.skip_block_every);
  same("--eval-every", baseline.evaluate_every, now.evaluate_every);
}

/// Loss by loss; `t` steps add up t roundings, each carried on like the first.
std::string outside_bound(const std::vector<StepRecord>& stored,
                          const std::vector<StepRecord>& steps, const Envelope& envelope) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double bound = static_cast<double>(i + 1) * envelope.loss(i);
    const double distance = std::abs(steps[i].loss - stored[i].loss);
    if (distance <= bound) continue;  // a NaN is outside
    return fmt::format(
        "the loss of step {} is {:.3g} from the baseline's, outside the bound of "
        "{:.3g}",
        steps[i].step, distance, bound);
  }
  return "";
}

}  // namespace

Baseline::Baseline(const std::string& directory, const RunConfig& config) : directory_(directory) {
  const Comparison before =
      read_report((std::filesystem::path(directory) / "report.json").string());
  require_same_training(directory, before.config, config);
  environment_key_ = before.environment.key;
  stages_ = read_stored_run(directory);
  for (const StageComparison& stage : before.stages) {
    const StoredStage* stored = named(stages_, stage.result.name);
    if (!stored || (asks_for(before.config, "REF") && !stored->has_fingerprints())) {
      bad_input("[baseline] {} has lost files of {}, which its report.json tells of; make it again",
                directory, stage.result.name);
    }
  }
  const auto known = [this](const std::string& stage) { return named(stages_, stage); };
  if (std::ranges::none_of(config.stages, known)) {
    bad_input("[baseline] {} has none of the stages that were asked for; list others in --stages",
              directory);
  }
}

std::string Baseline::judge_stage(const StageResult& result, const StoredStage& stored, bool bits,
                                  const Terms& terms,
                                  const std::vector<std::vector<StepRecord>>& clean) const {
  const bool fingerprints = bits && terms.fingerprints && stored.has_fingerprints();
  const Evidence before{stored.result,
                        fingerprints ? stored.fingerprints : std::vector<StepFingerprints>()};
  const std::string missing = what_is_missing(before, terms.ranks, terms.steps, fingerprints);
  if (!missing.empty()) return missing + " (in the baseline)";
  if (!bits) return outside_bound(stored.result.steps(), result.steps(), Envelope(clean));
  if (fingerprints && stored.tensors != terms.tensors) return "the baseline has other tensors";
  const auto difference = first_difference(
      before, {result, fingerprints ? result.fingerprints() : std::vector<StepFingerprints>()},
      terms.tensors);
  return difference ? difference->sentence + " (the reference is the baseline)" : "";
}

void Baseline::judge(Comparison& comparison, const Terms& terms,
                     const std::vector<std::vector<StepRecord>>& clean) const {
  const bool bits = same_bits_expected(comparison.environment);
  std::string names;
  bool fingerprints = terms.fingerprints;
  for (StageComparison& stage : comparison.stages) {
    const StoredStage* stored = named(stages_, stage.result.name);
    if (!stored) {
      comparison.notices.push_back(
          fmt::format("the baseline {} has no {}", directory_, stage.result.name));
      continue;
    }
    names += (names.empty() ? "" : ", ") + stage.result.name;
    fingerprints = fingerprints && stored->has_fingerprints();
    // A run that proves nothing by itself has its verdict already.
    if (!what_is_missing(evidence_of(stage.result), terms.ranks, terms.steps, false).empty())
      continue;
    const std::string sentence = judge_stage(stage.result, *stored, bits, terms, clean);
    if (sentence.empty()) continue;
    stage.verdict = Verdict::kDiverged;
    stage.reason = sentence;
  }
  comparison.notices.push_back(fmt::format(
      "{} held against the baseline {} {}", names, directory_,
      bits && fingerprints ? "bit by bit"
      : bits ? "loss by loss and norm by norm, bit by bit; fingerprints were not taken"
             : "within the rounding bound, because it was made in another environment"));
}

}  // namespace zerolab
