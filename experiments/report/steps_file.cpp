#include "experiments/report/steps_file.h"

#include "experiments/report/field_archives.h"
#include "experiments/report/json_lines.h"
#include "experiments/report/stage_numbers.h"

namespace zerolab {
namespace {

template <class Archive, class Record>
void step_fields(Archive&& a, Record& r) {
  a("step", r.step);
  a("loss", r.loss);
  a("grad_norm", r.grad_norm);
  a("factor", r.factor);
  a("learning_rate", r.learning_rate);
  a("loss_scale", r.loss_scale);
  a("skipped", r.skipped);
  a("held_out_loss", r.held_out_loss);
  a("tokens", r.tokens);
  a("seconds", r.seconds);
}

}  // namespace

void write_steps(const std::filesystem::path& path, const StageResult& result) {
  const std::vector<double> seconds = step_seconds(result);
  JsonLinesWriter file(path);
  for (std::size_t s = 0; s < result.steps().size(); ++s) {
    StepRecord record = result.steps()[s];
    record.seconds = seconds[s];
    Json line = Json::object();
    step_fields(FieldWriter(line), record);
    line["positions"] = Json::array();
    for (const RankResult& rank : result.ranks) {
      line["positions"].push_back(s < rank.steps.size() ? Json(rank.steps[s].positions)
                                                        : Json::array());
    }
    file.write(line);
  }
  file.finish();
}

std::vector<StepLine> read_steps(const std::filesystem::path& path) {
  std::vector<StepLine> steps;
  read_json_lines(path, [&](const JsonField& from) {
    StepLine line;
    step_fields(FieldReader(from), line.record);
    if (line.record.step != static_cast<std::int64_t>(steps.size()) + 1) {
      from["step"].reject(fmt::format("{}, the step after the line before", steps.size() + 1));
    }
    const JsonField ranks = from["positions"];
    line.positions.resize(ranks.size());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      for (std::size_t i = 0; i < ranks[r].size(); ++i) {
        line.positions[r].push_back(ranks[r][i].count());
      }
    }
    if (!steps.empty() && line.positions.size() != steps.front().positions.size()) {
      ranks.reject(fmt::format("a list of {} ranks", steps.front().positions.size()));
    }
    steps.push_back(std::move(line));
  });
  return steps;
}

}  // namespace zerolab
