#include "experiments/plan/step_program.h"

#include <optional>
#include <string_view>

#include "experiments/plan/accounting.h"
#include "experiments/plan/bucket_turns.h"
#include "experiments/plan/compute_time.h"
#include "experiments/predict/optimizer_prediction.h"
#include "experiments/predict/walk.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr double kNormBytes = 28;  // a rank: a maximum and the folds of a sum

class Builder {
 public:
  Builder(const std::string& stage, const Recipe& recipe, const PlannedModel& model,
          const Setting& setting, const TimeModel& time)
      : name_(stage),
        stage_(zero_stage(stage)),
        recipe_(recipe),
        setting_(setting),
        time_(time),
        dtypes_(setting.types),
        compute_(compute_times(recipe, model, time.cluster.device)),
        buckets_(bucket_turns(setting)),
        turns_(turns_by_use(setting)),
        units_(unit_lengths(setting)),
        runs_(reading_runs(setting.uses.training)),
        published_(units_.size()) {}

  StepProgram build(int micro_batches, int steps) {
    for (int step = 0; step < steps; ++step) {
      for (int k = 0; k < micro_batches; ++k) micro_batch(reduces(k, micro_batches));
      update();
    }
    return std::move(program_);
  }

 private:
  using Index = std::size_t;

  bool reduces(int k, int count) const {
    const bool every = recipe_.run.accumulation_order == AccumulationOrder::kReduced;
    return every || k + 1 == count;
  }

  Index add(StepOperation operation) {
    program_.operations.push_back(std::move(operation));
    return program_.operations.size() - 1;
  }

  void compute(std::string_view name, std::string detail, double seconds) {
    StepOperation operation{
        StepOperation::kCompute, std::string(name), std::move(detail), seconds, false, 1,
        std::move(pending_)};
    pending_.clear();
    last_compute_ = add(std::move(operation));
  }

  Index communicate(CollectiveOp op, std::string detail, double seconds, std::int64_t calls,
                    std::optional<Index> after) {
    StepOperation operation{
        setting_.overlap ? StepOperation::kCommunication : StepOperation::kCompute,
        std::string(name_of(op)),
        std::move(detail),
        seconds,
        true,
        calls,
        {}};
    if (after) operation.waits.push_back(*after);
    last_collective_ = add(std::move(operation));
    return *last_collective_;
  }

  double seconds_of(CollectiveOp op, std::int64_t elements) const {
    const DType dtype = op == CollectiveOp::kAllGather ? dtypes_.parameters : dtypes_.travelling;
    return collective_seconds(time_.cluster, time_.algorithm, op,
                              static_cast<double>(elements) * static_cast<double>(size_of(dtype)));
  }

  double seconds_of(CollectiveOp op, const BucketGroup& group) const {
    const double full = static_cast<double>(group.full) * seconds_of(op, buckets_.length);
    return group.last > 0 ? full + seconds_of(op, group.last) : full;
  }

  static std::string detail_of(const BucketGroup& group) {
    return group.count() == 1 ? "1 bucket" : fmt::format("{} buckets", group.count());
  }

  void micro_batch(bool reduce) {
    const std::vector<Use>& uses = setting_.uses.training;
    std::size_t run = 0;
    std::vector<std::optional<Index>> gathered(runs_.size());
    for (std::size_t i = 0; i < uses.size(); ++i) {
      while (run < runs_.size() && runs_[run].last < i) ++run;
      if (stage_ == 3 && uses[i].reads_parameters) {
        gather(gathered, run);
        if (setting_.overlap && run + 1 < runs_.size()) gather(gathered, run + 1);
        pending_.push_back(*gathered[run]);
      }
      const auto unit = static_cast<std::size_t>(uses[i].unit);
      if (published_[unit] && uses[i].phase == Phase::kForward) {
        pending_.push_back(*published_[unit]);
      }
      compute(name_of(uses[i].phase), setting_.layout.unit(uses[i].unit).name, use_seconds(i));
      if (reduce) hand_on(turns_[i]);
    }
    // The gradient buffer is zeroed for the next micro-batch once it has been read.
    if (reduce && stage_ < 2 && last_collective_) pending_.push_back(*last_collective_);
  }

  /// A unit arrives while the one before it computes, not earlier: its memory is needed till then.
  void gather(std::vector<std::optional<Index>>& gathered, std::size_t run) {
    if (gathered[run]) return;
    const auto unit = static_cast<std::size_t>(runs_[run].unit);
    gathered[run] =
        communicate(CollectiveOp::kAllGather, setting_.layout.unit(runs_[run].unit).name,
                    seconds_of(CollectiveOp::kAllGather, units_[unit]), 1, last_compute_);
  }

  double use_seconds(std::size_t i) const {
    const std::vector<Use>& uses = setting_.uses.training;
    const Use& use = uses[i];
    const auto unit = static_cast<std::size_t>(use.unit);
    const bool tied = use.unit == uses.front().unit;
    const bool forward = use.phase != Phase::kBackward;  // or forward again
    const bool turns = forward ? i + 1 < uses.size() && uses[i + 1].phase == Phase::kBackward
                               : uses[i - 1].phase == Phase::kForward;
    if (tied && turns) return forward ? compute_.head_forward : compute_.head_backward;
    return forward ? compute_.forward[unit] : compute_.backward[unit];
  }

  void hand_on(const std::vector<UnitId>& units) {
    for (const UnitId id : units) {
      const auto unit = static_cast<std::size_t>(id);
      if (stage_ == 3) {
        communicate(CollectiveOp::kReduceScatter, setting_.layout.unit(id).name,
                    seconds_of(CollectiveOp::kReduceScatter, units_[unit]), 1, last_compute_);
      } else {
        reduce(buckets_.complete[unit]);
      }
    }
  }

  void reduce(const BucketGroup& group) {
    if (group.count() == 0) return;
    const CollectiveOp op = stage_ == 0 ? CollectiveOp::kAllReduce : CollectiveOp::kReduceScatter;
    const auto launch = [&](const BucketGroup& part) {
      if (part.count() == 0) return;
      reduced_.push_back(
          communicate(op, detail_of(part), seconds_of(op, part), part.count(), last_compute_));
    };
    if (stage_ < 2) return launch(group);
    // The last two stand alone, so that what comes next can wait for the one before them.
    const std::int64_t alone = std::min<std::int64_t>(2, group.count());
    const std::int64_t first = group.count() - alone;
    launch({first, 0});
    for (std::int64_t i = 0; i < alone; ++i) {
      const bool shorter = i + 1 == alone && group.last > 0;
      launch(shorter ? BucketGroup{0, group.last} : BucketGroup{1, 0});
    }
    // Two buckets: filling one waits for the reduction of the last but one.
    if (setting_.overlap && reduced_.size() > 2) pending_.push_back(reduced_[reduced_.size() - 3]);
  }

  void update() {
    if (last_collective_) pending_.push_back(*last_collective_);
    const double ranks = setting_.ranks();
    if (stage_ > 0) {
      const double seconds = collective_seconds(time_.cluster, time_.algorithm,
                                                CollectiveOp::kAllGather, kNormBytes * ranks / 2);
      const Index norm =
          communicate(CollectiveOp::kAllGather, "norm", 2 * seconds, 2, last_compute_);
      pending_.push_back(norm);
    }
    std::int64_t flat = 0;
    for (const UnitLayout& unit : setting_.layout.units()) flat += unit.size;
    const double elements = static_cast<double>(flat) / (stage_ > 0 ? ranks : 1);
    exchange_matrices();
    compute("update", "optimizer",
            update_seconds(name_, recipe_, setting_, time_.cluster.device, elements));
    program_.updates.push_back(*last_compute_);
    reduced_.clear();
    if (stage_ == 1 || stage_ == 2) publish();
  }

  /// Muon: every cut matrix goes to the rank that computes it and back, one way after the other;
  /// what a rank sends it receives in the other phase.
  void exchange_matrices() {
    CommLedger::Table table{};
    add_optimizer_per_step(table, name_, setting_);
    const Volume& sent = table[static_cast<std::size_t>(Traffic::kTraining)]
                              [static_cast<std::size_t>(CollectiveOp::kSend)];
    if (sent.calls == 0) return;
    const double seconds = messages_seconds(time_.cluster, static_cast<double>(sent.calls),
                                            static_cast<double>(sent.sent()));
    pending_.push_back(
        communicate(CollectiveOp::kSend, "matrices", seconds, sent.calls, last_compute_));
  }

  void publish() {
    std::optional<Index> latest;
    for (std::size_t unit = units_.size(); unit-- > 0;) {
      const BucketGroup& group = buckets_.brought[unit];
      if (group.count() > 0) {
        latest =
            communicate(CollectiveOp::kAllGather, detail_of(group),
                        seconds_of(CollectiveOp::kAllGather, group), group.count(), last_compute_);
      }
      published_[unit] = latest;
    }
  }

  const std::string& name_;
  const int stage_;
  const Recipe& recipe_;
  const Setting& setting_;
  const TimeModel& time_;
  const StateTypes& dtypes_;
  const ComputeTimes compute_;
  const BucketTurns buckets_;
  const std::vector<std::vector<UnitId>> turns_;
  const std::vector<std::int64_t> units_;
  const std::vector<ReadingRun> runs_;

  StepProgram program_;
  std::vector<Index> pending_;  // what the next compute operation waits for
  std::vector<Index> reduced_;  // ZeRO-2: reductions in order
  std::vector<std::optional<Index>> published_;
  std::optional<Index> last_compute_, last_collective_;
};

}  // namespace

StepProgram step_program(const std::string& stage, const Recipe& recipe, const PlannedModel& model,
                         const Setting& setting, const TimeModel& time, int micro_batches,
                         int steps) {
  require(micro_batches >= 1 && micro_batches <= kMostMicroBatches && steps >= 1,
          "[plan] a program of {} micro-batches and {} steps was asked for", micro_batches, steps);
  return Builder(stage, recipe, model, setting, time).build(micro_batches, steps);
}

}  // namespace zerolab
