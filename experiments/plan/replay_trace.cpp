#include "experiments/plan/replay_trace.h"

#include <algorithm>
#include <cmath>

#include "experiments/plan/text_table.h"
#include "experiments/plan/units.h"
#include "experiments/report/trace.h"
#include "experiments/report/words.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr double kNanoseconds = 1e9;

std::int64_t ns(double seconds) { return std::llround(seconds * kNanoseconds); }

std::string detail_of(const StepOperation& operation) {
  return operation.calls == 1 ? operation.detail
                              : fmt::format("{}, {} calls", operation.detail, operation.calls);
}

RankResult spans_of(const StageReplay& stage, int rank) {
  RankResult result;
  result.rank = rank;
  const RankReplay& replayed = stage.replay.ranks[static_cast<std::size_t>(rank)];
  for (std::size_t i = stage.program.updates[0] + 1; i <= stage.program.updates[1]; ++i) {
    const StepOperation& operation = stage.program.operations[i];
    const ReplayedOperation& times = replayed.operations[i];
    if (times.start > times.begin) {
      result.spans.push_back(
          {operation.stream, "wait", "other ranks", ns(times.begin), ns(times.start), -1});
    }
    result.spans.push_back({operation.stream, operation.name, detail_of(operation), ns(times.start),
                            ns(times.end),
                            operation.collective ? static_cast<std::int64_t>(i) : -1});
  }
  return result;
}

}  // namespace

StageReplay replay_stage(const std::string& stage, const PlanRequest& request,
                         const ReplaySettings& settings) {
  const RunConfig& run = request.recipe.run;
  if (!request.time.cluster.timed()) {
    bad_input("[plan] a replay needs to know how fast devices and links are; give --device");
  }
  if (run.ranks > kMostReplayedRanks) {
    bad_input("[plan] {} ranks are too many to replay one by one; give at most {}", run.ranks,
              kMostReplayedRanks);
  }
  if (run.accumulate > kMostMicroBatches) {
    bad_input("[plan] {} micro-batches are too many to replay one by one; give at most {}",
              run.accumulate, kMostMicroBatches);
  }
  const Recipe recipe = recipe_of(stage, request.recipe);
  const Setting setting = plan_setting(recipe, request.model, 0);
  StageReplay result;
  result.stage = stage;
  result.program =
      step_program(stage, recipe, request.model, setting, request.time, run.accumulate, 2);
  result.replay = replay(result.program, settings);
  return result;
}

std::string replay_trace(const StageReplay& replay) {
  StageResult result;
  result.name = result.stage = replay.stage;
  for (std::size_t rank = 0; rank < replay.replay.ranks.size(); ++rank) {
    result.ranks.push_back(spans_of(replay, static_cast<int>(rank)));
  }
  return trace_json(result);
}

std::string replay_text(const std::vector<StageReplay>& replays) {
  TextTable table(
      {fmt::format("replayed on {}",
                   counted(static_cast<std::int64_t>(replays.front().replay.ranks.size()), "rank")),
       "a step takes", "shortest wait", "longest wait", "of rank"});
  for (const StageReplay& stage : replays) {
    const auto& ranks = stage.replay.ranks;
    const auto [least, most] = std::ranges::minmax_element(
        ranks, {}, [](const RankReplay& rank) { return rank.waiting_seconds; });
    table.add({"  " + stage.stage, seconds_text(stage.step_seconds()),
               seconds_text(least->waiting_seconds / 2), seconds_text(most->waiting_seconds / 2),
               fmt::format("{}", most - ranks.begin())});
  }
  return table.text() + "A wait is time inside a step's collectives before the last rank came.\n";
}

}  // namespace zerolab
