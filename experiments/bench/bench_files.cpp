// Figures as JSON, and the page of the documentation that shows them.
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "experiments/bench/bench_report.h"
#include "experiments/report/json_fields.h"
#include "stages/core/atomic_file.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr const char* kPlaceBegins = "<!-- results -->\n";
constexpr const char* kPlaceEnds = "<!-- end -->";

void put_spread(Json& object, const Spread& spread) {
  put_number(object, "median", spread.median);
  put_number(object, "smallest", spread.smallest);
  put_number(object, "largest", spread.largest);
  object["samples"] = spread.samples;
}

Json figure_json(const Figure& figure) {
  Json object = {{"topic", figure.topic},
                 {"name", figure.name},
                 {"meaning", figure.meaning},
                 {"unit", figure.unit.empty() ? "ratio" : figure.unit}};
  put_spread(object, figure.value);
  if (figure.goal) {
    Json& goal = object["goal"] = Json::object();
    if (figure.goal->at_least) goal["at_least"] = *figure.goal->at_least;
    if (figure.goal->at_most) goal["at_most"] = *figure.goal->at_most;
    if (figure.goal->aim) goal["aim"] = *figure.goal->aim;
  }
  Json& parts = object["parts"] = Json::array();
  for (const Part& part : figure.parts) {
    Json& entry = parts.emplace_back(Json{{"name", part.name}, {"unit", part.unit}});
    put_spread(entry, part.value);
  }
  return object;
}

Json machine_json(const Machine& machine) {
  const Environment& environment = machine.environment;
  return {{"cpu", environment.cpu},
          {"cores", machine.cores},
          {"memory_bytes", machine.memory_bytes},
          {"os", environment.os},
          {"compiler", environment.compiler},
          {"flags", environment.flags},
          {"eigen", environment.eigen},
          {"version", environment.version},
          {"key", environment.key},
          {"load", machine.load},
          {"started_at", environment.started_at}};
}

}  // namespace

std::string bench_json(const BenchReport& report) {
  Json object = {{"schema", kBenchSchema},
                 {"command", report.command},
                 {"machine", machine_json(report.machine)}};
  object["figures"] = Json::array();
  for (const Figure& figure : report.figures) object["figures"].push_back(figure_json(figure));
  object["notices"] = report.notices;
  return dumped(object, 1) + "\n";
}

ResultsPage::ResultsPage(std::filesystem::path path) : path_(std::move(path)) {
  std::ifstream file(path_, std::ios::binary);
  if (!file) {
    bad_input("[bench] {} cannot be read; name a Markdown file with a place for results",
              path_.string());
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begins = text.find(kPlaceBegins);
  const std::size_t ends = begins == std::string::npos ? begins : text.find(kPlaceEnds, begins);
  if (ends == std::string::npos) {
    bad_input(
        "[bench] {} has no place for results; it must contain the lines '<!-- results -->' and "
        "'<!-- end -->'",
        path_.string());
  }
  before_ = text.substr(0, begins) + kPlaceBegins;
  after_ = text.substr(ends);
}

void ResultsPage::write(const std::string& results) const {
  write_file_atomically(path_, before_ + results + after_);
}

}  // namespace zerolab
