#include "experiments/report/report_timeline.h"

#include <algorithm>

#include "experiments/report/report_fields.h"

namespace zerolab {

Json timeline_json(const StageResult& result) {
  Json ranks = Json::array();
  for (std::size_t r = 0; r < std::min(kTimelineRanks, result.ranks.size()); ++r) {
    const RankResult& rank = result.ranks[r];
    Json object = {{"rank", rank.rank}, {"held_before", Json::object()}};
    for (std::size_t c = 0; c < kCategoryCount; ++c) {
      if (rank.held_before[c] == 0) continue;
      object["held_before"][std::string(name_of(static_cast<Category>(c)))] = rank.held_before[c];
    }
    const auto list = [&](const char* key, const auto& items, auto&& fields) {
      Json array = Json::array();
      for (const auto& item : items) {
        Json& entry = array.emplace_back(Json::object());
        fields(FieldWriter(entry), item);
      }
      object[key] = std::move(array);
    };
    list("moments", rank.moments, [](FieldWriter w, const auto& item) { moment_fields(w, item); });
    list("memory_events", rank.memory_events,
         [](FieldWriter w, const auto& item) { memory_event_fields(w, item); });
    list("collectives", rank.records,
         [](FieldWriter w, const auto& item) { collective_fields(w, item); });
    ranks.push_back(std::move(object));
  }
  return ranks;
}

CategoryBytes read_categories(const JsonField& field) {
  CategoryBytes bytes{};
  for (const std::string& name : field.names()) {
    int c = 0;
    while (c < kCategoryCount && name != name_of(static_cast<Category>(c))) ++c;
    if (c == kCategoryCount) field[name].reject("a member named after a category of memory");
    bytes[static_cast<std::size_t>(c)] = field[name].count();
  }
  return bytes;
}

void read_timeline(const JsonField& timeline, StageResult& result) {
  if (timeline.size() > result.ranks.size()) timeline.reject("no more entries than ranks");
  for (std::size_t r = 0; r < timeline.size(); ++r) {
    const JsonField from = timeline[r];
    RankResult& rank = result.ranks[r];
    if (from["rank"].integer() != rank.rank) from["rank"].reject("the ranks in order");
    rank.held_before = read_categories(from["held_before"]);
    const auto list = [&](const char* key, auto& items, auto&& fields) {
      const JsonField array = from[key];
      items.resize(array.size());
      for (std::size_t i = 0; i < items.size(); ++i) fields(FieldReader(array[i]), items[i]);
    };
    list("moments", rank.moments, [](FieldReader a, auto& item) { moment_fields(a, item); });
    list("memory_events", rank.memory_events,
         [](FieldReader a, auto& item) { memory_event_fields(a, item); });
    list("collectives", rank.records,
         [](FieldReader a, auto& item) { collective_fields(a, item); });
    std::int64_t previous = 0;
    for (std::size_t m = 0; m < rank.moments.size(); ++m) {
      const std::int64_t first = rank.moments[m].first_event;
      if (first < previous || first > static_cast<std::int64_t>(rank.memory_events.size())) {
        from["moments"][m]["first_event"].reject("indices of 'memory_events' in rising order");
      }
      previous = first;
    }
  }
}

}  // namespace zerolab
