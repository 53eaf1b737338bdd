#include "tests/report/example_comparison.h"

#include <fmt/format.h>

#include <limits>

namespace zerolab {
namespace {

constexpr std::int64_t kWhole = 12000;  // bytes of fp32 parameters, padding included
constexpr std::int64_t kSteps = 3;

std::int64_t& at(CategoryBytes& bytes, Category category) {
  return bytes[static_cast<std::size_t>(category)];
}

StepRecord step_record(std::int64_t step, int rank) {
  StepRecord record;
  record.step = step;
  record.loss = 5.545177444479562 / static_cast<double>(step) + 1.0 / 3;
  record.grad_norm = 0.1F * static_cast<float>(step);
  record.factor = 1.0F / 12;
  record.learning_rate = 1e-3F * static_cast<float>(step);
  if (step == kSteps) record.held_out_loss = 2.718281828459045;
  record.seconds = 0.25 + 0.01 * static_cast<double>(rank) + 0.001 * static_cast<double>(step);
  record.tokens = 1536;
  record.positions = {1000 * step + 10 * rank, 1000 * step + 10 * rank + 5};
  return record;
}

/// What one rank of the step does, told to both ledgers.
class Step {
 public:
  Step(RankResult& rank, int ranks) : rank_(rank), ranks_(ranks) {}

  void turn_to(const std::string& moment) {
    moment_ = moment;
    rank_.moments.push_back({moment, static_cast<std::int64_t>(rank_.memory_events.size())});
  }
  void memory(const std::string& name, Category category, std::int64_t bytes) {
    total_ += bytes;
    rank_.memory_events.push_back({++time_, name, category, bytes, total_, moment_});
  }
  void move(CollectiveOp op, Traffic traffic, const std::string& what, const std::string& detail,
            std::int64_t bytes_to_each) {
    CollectiveRecord record;
    record.sequence = static_cast<std::int64_t>(rank_.records.size());
    record.op = op;
    record.dtype = traffic == Traffic::kControl ? DType::kFloat64 : DType::kFloat32;
    record.count = bytes_to_each * ranks_ / 4;
    record.group_size = ranks_;
    record.group = "world";
    record.traffic = traffic;
    record.phase = moment_;
    record.what = what;
    record.detail = detail;
    for (int peer = 0; peer < ranks_; ++peer) {
      const std::int64_t bytes = peer == rank_.rank ? 0 : bytes_to_each;
      record.sent_to.push_back(bytes);
      record.received_from.push_back(bytes);
    }
    record.start_ns = ++time_;
    record.end_ns = ++time_;
    rank_.records.push_back(record);
  }

 private:
  RankResult& rank_;
  int ranks_;
  std::string moment_;
  std::int64_t time_ = 1'000'000;
  std::int64_t total_ = 0;
};

void walk_ddp(Step& step) {
  step.move(CollectiveOp::kAllReduce, Traffic::kTraining, "all-reduce gradients", "bucket 0",
            2 * kWhole / 3);
}

void walk_zero1(Step& step) {
  step.move(CollectiveOp::kReduceScatter, Traffic::kTraining, "reduce-scatter gradients",
            "bucket 0", kWhole / 3);
}

void walk_zero3(Step& step) {
  step.memory("gradient of embedding", Category::kUnitGradients, 6000);
  step.move(CollectiveOp::kReduceScatter, Traffic::kTraining, "reduce-scatter gradients",
            "embedding", kWhole / 3);
  step.memory("gradient of embedding", Category::kUnitGradients, -6000);
}

void record_step(RankResult& rank, const std::string& stage, int ranks) {
  Step step(rank, ranks);
  step.turn_to(fmt::format("step {}", kSteps));
  for (const char* unit : {"embedding", "h.0", "ln_f", "embedding"}) {
    step.turn_to(fmt::format("step {} forward {}", kSteps, unit));
    if (stage != "zero3") continue;
    step.memory(fmt::format("parameters of {}", unit), Category::kGatheredParameters, 4000);
    step.move(CollectiveOp::kAllGather, Traffic::kTraining, "all-gather parameters", unit,
              kWhole / 3 / 4);
    step.memory(fmt::format("parameters of {}", unit), Category::kGatheredParameters, -4000);
  }
  for (const char* unit : {"embedding", "ln_f", "h.0", "embedding"}) {
    step.turn_to(fmt::format("step {} backward {}", kSteps, unit));
  }
  if (stage == "ddp") walk_ddp(step);
  if (stage == "zero1") walk_zero1(step);
  if (stage == "zero3") walk_zero3(step);
  step.move(CollectiveOp::kAllGather, Traffic::kControl, "losses", "", 8);
  step.turn_to(fmt::format("step {} optimizer", kSteps));
  if (stage == "zero1") {
    step.move(CollectiveOp::kAllGather, Traffic::kTraining, "all-gather parameters", "bucket 0",
              kWhole / 3);
  }
}

CommLedger::Table volume_of(const std::vector<CollectiveRecord>& records, std::int64_t times) {
  CommLedger::Table table{};
  for (const CollectiveRecord& record : records) {
    Volume& volume =
        table[static_cast<std::size_t>(record.traffic)][static_cast<std::size_t>(record.op)];
    volume.calls += times;
    for (const std::int64_t bytes : record.sent_to) {
      volume.sent_intra += times * bytes;
      volume.received_intra += times * bytes;
    }
  }
  return table;
}

RankResult rank_result(int number, const std::string& stage, int ranks) {
  RankResult rank;
  rank.rank = number;
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    rank.steps.push_back(step_record(step, number));
    StepFingerprints fingerprints{step, {}};
    for (std::uint64_t phase = 0; phase < 3; ++phase) {
      // Owners' shares, which add up to the same in every stage.
      const auto hash = [&](std::uint64_t tensor) {
        return number == 0 ? 0xfedcba9876543210U + 1000 * static_cast<std::uint64_t>(step) +
                                 100 * phase + tensor
                           : 0;
      };
      fingerprints.values.push_back({hash(0), hash(1), hash(2)});
    }
    rank.fingerprints.push_back(fingerprints);
  }
  const std::int64_t share = kWhole / ranks;
  CategoryBytes& held = rank.held_before;
  at(held, Category::kParameters) = stage == "zero3" ? share : kWhole;
  at(held, Category::kGradients) = stage == "zero3" ? share : kWhole;
  at(held, Category::kFirstMoments) = stage == "ddp" ? kWhole : share;
  at(held, Category::kSecondMoments) = stage == "ddp" ? kWhole : share;
  at(held, Category::kActivations) = 4096;
  record_step(rank, stage, ranks);
  rank.peak_by_category = held;
  if (stage == "zero3") {
    at(rank.peak_by_category, Category::kGatheredParameters) = 4000;
    at(rank.peak_by_category, Category::kUnitGradients) = 6000;
  }
  rank.at_peak = rank.peak_by_category;
  for (const std::int64_t bytes : rank.at_peak) rank.peak_bytes += bytes;
  rank.peak_moment = "step 1 backward embedding";
  rank.reserved_bytes = rank.peak_bytes + 4096;
  rank.training_volume = volume_of(rank.records, kSteps);
  rank.evaluations = 1;
  rank.evaluation_volume[1][static_cast<std::size_t>(CollectiveOp::kAllGather)] = {1, 16, 0, 16, 0};
  return rank;
}

StageComparison stage_comparison(const std::string& name, int ranks) {
  StageComparison stage;
  stage.result.name = stage.result.stage = name;
  for (int r = 0; r < ranks; ++r) {
    const RankResult& rank = stage.result.ranks.emplace_back(rank_result(r, name, ranks));
    Prediction& formula = stage.predicted.emplace_back();
    formula.peak_by_category = rank.peak_by_category;
    formula.at_peak = rank.at_peak;
    formula.peak_bytes = rank.peak_bytes;
    formula.peak_moment = "backward embedding";
    formula.per_step = volume_of(rank.records, 1);
    formula.per_evaluation = rank.evaluation_volume;
  }
  if (name != "ddp") {
    stage.compared_with = "ddp";
    stage.reason = "all fingerprints of 3 steps are equal";
  }
  return stage;
}

}  // namespace

std::vector<std::string> example_tensors() {
  return {"ln_f.weight", "h.0.mlp.c_fc.weight", "wte.weight"};
}

Comparison example_comparison(int ranks) {
  Comparison comparison;
  comparison.config.stages = {"ddp", "zero1", "zero3"};
  comparison.config.ranks = ranks;
  comparison.config.steps = kSteps;
  comparison.environment = {"binary 0123456789abcdef, AVX2, Eigen 3.4.0",
                            "0.1.0",
                            "gcc 12.2.0",
                            "Release",
                            "A CPU",
                            "An OS",
                            "3.4.0",
                            "built without",
                            "2026-01-02T03:04:05Z"};
  comparison.reference = "ddp";
  comparison.seconds = 12.5;
  for (const char* name : {"ddp", "zero1", "zero3"}) {
    comparison.stages.push_back(stage_comparison(name, ranks));
  }
  return comparison;
}

Comparison diverged_example() {
  Comparison comparison = example_comparison();
  comparison.verdict = Verdict::kDiverged;
  StageComparison& stage = comparison.stages.back();
  stage.verdict = Verdict::kDiverged;
  stage.reason = "gradients differ from step 2 on";
  Divergence& divergence = stage.first_divergence.emplace();
  divergence = {2,
                "gradients",
                "h.0.mlp.c_fc.weight",
                1,
                4096,
                0.25F,
                1.0F,
                16777216,
                32768,
                "zero3 first differs from ddp at step 2"};
  for (int rank = 0; rank < 2; ++rank) {
    Finding finding;
    finding.check = "INV";
    finding.step = 2;
    finding.phase = "gradients";
    finding.tensor = "h.0.mlp.c_fc.weight";
    finding.rank = rank;
    finding.element = 4096;
    finding.expected = 0.25;
    finding.value = 1.0;
    finding.ulp = 16777216;
    finding.message = "the reduced gradient is not the sum of what the ranks handed over";
    stage.findings.push_back(finding);
  }
  for (RankResult& rank : stage.result.ranks) rank.steps[1].loss += 1e-7;
  return comparison;
}

Comparison noisy_example() {
  Comparison comparison = example_comparison();
  comparison.config.precision = "fp16";
  comparison.verdict = Verdict::kWithinNoise;
  comparison.stages.back().verdict = Verdict::kWithinNoise;
  comparison.stages.back().reason = "inside the envelope of 3 clean runs in other orders";
  for (StageComparison& stage : comparison.stages) {
    for (RankResult& rank : stage.result.ranks) {
      for (StepRecord& step : rank.steps) step.loss_scale = 65536;
      rank.steps.front().loss_scale = 131072;
      rank.steps.front().skipped = true;
      rank.steps.front().grad_norm = std::numeric_limits<float>::quiet_NaN();
      if (stage.result.name == "zero3") rank.steps[1].loss += 1e-7;
    }
  }
  comparison.noise_floor = NoiseFloor{
      3,     4, {2e-7, 2e-7, 4e-7}, {1e-6, 1.5e-6, 2e-6}, {6e-7, 6e-7, 9e-7}, {4e-6, 4e-6, 8e-6},
      0.0625};
  return comparison;
}

}  // namespace zerolab
