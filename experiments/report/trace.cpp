#include "experiments/report/trace.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "experiments/report/json_fields.h"
#include "experiments/report/words.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr const char* kRows[] = {"compute", "communication"};

std::string row_name(int stream) {
  if (stream >= 0 && stream < static_cast<int>(std::size(kRows))) return kRows[stream];
  return stream < 0 ? "freed memory" : fmt::format("stream {}", stream);
}

/// The counter's bands: few enough to be told apart.
const char* series_of(Category category) {
  switch (category) {
    case Category::kParameters:
      return "parameters";
    case Category::kGradients:
    case Category::kAccumulators:
      return "gradients";
    case Category::kMasterWeights:
    case Category::kFirstMoments:
    case Category::kSecondMoments:
      return "optimizer states";
    case Category::kActivations:
      return "activations";
    default:
      return "buffers";
  }
}

/// Where a collective's bar begins on one rank.
struct Call {
  int rank = 0;
  int row = 0;
  std::int64_t start_ns = 0;
};

class Trace {
 public:
  explicit Trace(const StageResult& result) : result_(result) {
    for (const RankResult& rank : result.ranks) {
      for (const Span& span : rank.spans) origin_ = std::min(origin_, span.start_ns);
      for (const MemoryEvent& event : rank.memory_events) {
        origin_ = std::min(origin_, event.time_ns);
      }
    }
    for (const RankResult& rank : result.ranks) {
      name(rank);
      for (const Span& span : rank.spans) bar(rank.rank, span);
      count_memory(rank);
    }
    for (auto& [key, calls] : calls_) join(key.second, calls);
  }

  std::string text() const {
    std::string text = "{\"displayTimeUnit\":\"ms\",\"otherData\":";
    text += dumped({{"stage", result_.name}, {"ranks", result_.ranks.size()}});
    text += ",\"traceEvents\":[";
    return text + events_ + "\n]}\n";
  }

 private:
  double microseconds(std::int64_t ns) const { return static_cast<double>(ns - origin_) / 1000; }

  void add(const Json& event) {
    events_ += events_.empty() ? "\n" : ",\n";
    events_ += dumped(event);
  }

  void metadata(const char* what, int rank, int row, const Json& args) {
    add({{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", row}, {"args", args}});
  }

  void name(const RankResult& rank) {
    metadata("process_name", rank.rank, 0, {{"name", fmt::format("rank {}", rank.rank)}});
    metadata("process_sort_index", rank.rank, 0, {{"sort_index", rank.rank}});
    std::vector<int> streams = {0, 1};
    for (const Span& span : rank.spans) {
      if (std::ranges::find(streams, span.stream) == streams.end()) streams.push_back(span.stream);
    }
    for (const int stream : streams) {
      metadata("thread_name", rank.rank, row(stream), {{"name", row_name(stream)}});
      metadata("thread_sort_index", rank.rank, row(stream), {{"sort_index", row(stream)}});
    }
  }

  /// Thread ids are not negative.
  static int row(int stream) { return stream >= 0 ? stream : 1000; }

  void bar(int rank, const Span& span) {
    const bool wait = span.name == "wait";
    const bool collective = span.sequence >= 0;
    Json args = Json::object();
    if (!span.detail.empty()) args[wait ? "reason" : "detail"] = span.detail;
    if (collective) args["sequence"] = span.sequence;
    add({{"ph", "X"},
         {"name", wait ? "wait: " + span.detail : span.name},
         {"cat", wait         ? "wait"
                 : collective ? "collective"
                              : "kernel"},
         {"pid", rank},
         {"tid", row(span.stream)},
         {"ts", microseconds(span.start_ns)},
         {"dur",
          static_cast<double>(std::max<std::int64_t>(span.end_ns - span.start_ns, 0)) / 1000},
         {"args", args}});
    if (collective) {
      calls_[{span.stream, span.sequence}].push_back({rank, row(span.stream), span.start_ns});
    }
  }

  void count_memory(const RankResult& rank) {
    CategoryBytes held = rank.held_before;
    for (const MemoryEvent& event : rank.memory_events) {
      held[static_cast<std::size_t>(event.category)] += event.bytes;
      std::map<std::string, std::int64_t> series;
      for (std::size_t c = 0; c < kCategoryCount; ++c) {
        series[series_of(static_cast<Category>(c))] += held[c];
      }
      add({{"ph", "C"},
           {"name", "memory, bytes"},
           {"pid", rank.rank},
           {"ts", microseconds(event.time_ns)},
           {"args", series}});
    }
  }

  /// Arrows from the rank that began first to each rank after it.
  void join(std::int64_t sequence, std::vector<Call>& calls) {
    if (calls.size() < 2) return;
    std::ranges::stable_sort(calls, {}, &Call::start_ns);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const bool last = i + 1 == calls.size();
      Json event = {{"ph", i == 0 ? "s"
                           : last ? "f"
                                  : "t"},
                    {"name", "collective"},
                    {"cat", "collective"},
                    {"id", sequence},
                    {"pid", calls[i].rank},
                    {"tid", calls[i].row},
                    {"ts", microseconds(calls[i].start_ns)}};
      if (last) event["bp"] = "e";
      add(event);
    }
  }

  const StageResult& result_;
  std::int64_t origin_ = std::numeric_limits<std::int64_t>::max();
  std::map<std::pair<int, std::int64_t>, std::vector<Call>> calls_;  // by (stream, sequence)
  std::string events_;
};

}  // namespace

std::string trace_json(const StageResult& result) { return Trace(result).text(); }

}  // namespace zerolab
