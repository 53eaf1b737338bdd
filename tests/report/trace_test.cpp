#include "experiments/report/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tests/report/example_comparison.h"

namespace zerolab {
namespace {

using nlohmann::json;

/// Two ranks that compute and reduce; rank 1 is late.
StageResult traced() {
  StageResult result = example_comparison(2).stages[2].result;
  for (RankResult& rank : result.ranks) {
    const std::int64_t late = 500 * rank.rank;
    rank.spans = {{0, "matmul", "h.0", 2'000'000 + late, 2'001'000 + late, -1},
                  {0, "wait", "unit gathered", 2'001'000 + late, 2'003'500 + late, -1},
                  {1, "all_gather", "h.0", 2'000'500 + late, 2'003'000 + late, 0},
                  {1, "reduce_scatter", "h.0", 2'003'000 + late, 2'003'750 + late, 1}};
  }
  return result;
}

std::vector<json> events(const StageResult& result, const std::string& kind) {
  std::vector<json> found;
  const json trace = json::parse(trace_json(result));
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == kind) found.push_back(event);
  }
  return found;
}

TEST(Trace, HasAProcessPerRankWithTwoNamedRows) {
  std::map<std::pair<int, int>, std::string> rows;
  std::map<int, std::string> processes;
  for (const json& event : events(traced(), "M")) {
    if (event["name"] == "thread_name") {
      rows[{event["pid"], event["tid"]}] = event["args"]["name"];
    }
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
  }
  EXPECT_EQ(processes, (std::map<int, std::string>{{0, "rank 0"}, {1, "rank 1"}}));
  EXPECT_EQ((rows[{1, 0}]), "compute");
  EXPECT_EQ((rows[{1, 1}]), "communication");
}

TEST(Trace, BarsOfARowNestAndKeepTheirNanoseconds) {
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> rows;
  for (const json& event : events(traced(), "X")) {
    const double start = event["ts"];
    rows[{event["pid"], event["tid"]}].emplace_back(start, start + double{event["dur"]});
  }
  ASSERT_EQ(rows.size(), 4U);
  for (const auto& [row, bars] : rows) {
    std::vector<double> open;  // ends of the bars around the current one
    for (const auto& [start, end] : bars) {
      while (!open.empty() && open.back() <= start + 1e-6) open.pop_back();
      if (!open.empty()) {
        EXPECT_LE(end, open.back() + 1e-6);
      }
      open.push_back(end);
    }
  }
  EXPECT_NEAR((rows[{0, 0}][0].second - rows[{0, 0}][0].first), 1.0, 1e-9);
}

TEST(Trace, AWaitCarriesItsReason) {
  const std::vector<json> bars = events(traced(), "X");
  EXPECT_EQ(bars[1]["name"], "wait: unit gathered");
  EXPECT_EQ(bars[1]["args"]["reason"], "unit gathered");
  EXPECT_EQ(bars[1]["cat"], "wait");
}

TEST(Trace, ArrowsJoinEachCollectiveAcrossRanksInTheOrderOfTheirStart) {
  const std::vector<json> starts = events(traced(), "s");
  const std::vector<json> ends = events(traced(), "f");
  ASSERT_EQ(starts.size(), 2U);
  ASSERT_EQ(ends.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(starts[i]["id"], ends[i]["id"]);
    EXPECT_EQ(starts[i]["pid"], 0);  // rank 1 is late
    EXPECT_EQ(ends[i]["pid"], 1);
    EXPECT_EQ(ends[i]["bp"], "e");
    EXPECT_LE(double{starts[i]["ts"]}, double{ends[i]["ts"]});
  }
}

TEST(Trace, ArrowsBeginAndEndInsideTheBarsOfTheirCollective) {
  for (const char* kind : {"s", "f"}) {
    for (const json& arrow : events(traced(), kind)) {
      bool inside = false;
      for (const json& bar : events(traced(), "X")) {
        const double start = bar["ts"];
        inside = inside || (bar["pid"] == arrow["pid"] && bar["tid"] == arrow["tid"] &&
                            bar["args"].value("sequence", -1) == arrow["id"] &&
                            start <= double{arrow["ts"]} &&
                            double{arrow["ts"]} <= start + double{bar["dur"]});
      }
      EXPECT_TRUE(inside) << arrow;
    }
  }
}

TEST(Trace, MemoryIsACounterOfWhatIsHeld) {
  const std::vector<json> counters = events(traced(), "C");
  ASSERT_FALSE(counters.empty());
  EXPECT_EQ(counters[0]["args"]["parameters"], 6000);
  EXPECT_EQ(counters[0]["args"]["buffers"], 4000);
  EXPECT_EQ(counters[1]["args"]["buffers"], 0);
}

TEST(Trace, ARunWithoutSpansIsStillATrace) {
  StageResult result = example_comparison(1).stages[0].result;
  result.ranks[0].memory_events.clear();
  EXPECT_TRUE(json::parse(trace_json(result))["traceEvents"].is_array());
}

}  // namespace
}  // namespace zerolab
