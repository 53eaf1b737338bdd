#include <functional>

#include "experiments/plan/accounting.h"
#include "experiments/plan/plan_report.h"
#include "experiments/plan/text_table.h"
#include "experiments/plan/units.h"
#include "experiments/report/words.h"

namespace zerolab {
namespace {

using Cell = std::function<std::string(const StagePlan&)>;

class Columns {
 public:
  Columns(const PlanReport& report, std::string title)
      : report_(report), table_(heading(report, std::move(title))) {}

  void row(const std::string& label, const Cell& cell) {
    std::vector<std::string> cells = {"  " + label};
    for (const StagePlan& plan : report_.stages) cells.push_back(cell(plan));
    table_.add(std::move(cells));
  }
  std::string text() const { return table_.text() + "\n"; }

 private:
  static std::vector<std::string> heading(const PlanReport& report, std::string title) {
    std::vector<std::string> cells = {std::move(title)};
    for (const StagePlan& plan : report.stages) cells.push_back(plan.stage);
    return cells;
  }

  const PlanReport& report_;
  TextTable table_;
};

std::string memory_text(const PlanReport& report) {
  Columns columns(report, "held by one rank at its largest total");
  for (int i = 0; i < kCategoryCount; ++i) {
    const auto index = static_cast<std::size_t>(i);
    bool held = false;
    for (const StagePlan& plan : report.stages) held |= plan.memory.at_peak[index] > 0;
    if (!held) continue;
    columns.row(spoken(name_of(static_cast<Category>(i))),
                [&](const StagePlan& plan) { return size_text(plan.memory.at_peak[index]); });
  }
  columns.row("largest total", [](const StagePlan& p) { return size_text(p.memory.peak_bytes); });
  columns.row("  the same in GiB",
              [](const StagePlan& p) { return gib_text(p.memory.peak_bytes); });
  columns.row("  at", [](const StagePlan& p) { return moment_text(p.memory.peak_moment); });
  columns.row("model states", [](const StagePlan& p) { return size_text(p.memory.states_bytes); });
  columns.row("  bytes a parameter",
              [](const StagePlan& p) { return fmt::format("{:.4g}", p.bytes_per_parameter); });
  const double memory = report.request.time.cluster.device.memory_bytes;
  if (memory > 0) {
    columns.row(fmt::format("fits in {}", size_text(memory)),
                [](const StagePlan& p) { return p.fits == true ? "yes" : "no"; });
  }
  return columns.text();
}

std::string traffic_text(const PlanReport& report) {
  Columns columns(report, "sent by one rank in a step");
  for (int i = 0; i < kCollectiveOpCount; ++i) {
    const auto op = static_cast<CollectiveOp>(i);
    if (op == CollectiveOp::kRecv) continue;  // what the peer has sent
    const auto line_of = [&](const StagePlan& plan) -> const TrafficLine* {
      for (const TrafficLine& line : plan.traffic.lines) {
        if (line.traffic == Traffic::kTraining && line.op == op) return &line;
      }
      return nullptr;
    };
    bool used = false;
    for (const StagePlan& plan : report.stages) used |= line_of(plan) != nullptr;
    if (!used) continue;
    columns.row(spoken(name_of(op)), [&](const StagePlan& plan) {
      const TrafficLine* line = line_of(plan);
      return line ? size_text(line->volume.sent()) : std::string("–");
    });
    columns.row("  calls", [&](const StagePlan& plan) {
      const TrafficLine* line = line_of(plan);
      return line ? grouped(line->volume.calls) : std::string("–");
    });
  }
  columns.row("together", [](const StagePlan& p) { return size_text(p.traffic.sent); });
  columns.row("  in passes over the parameters",
              [](const StagePlan& p) { return fmt::format("{:.3g}", p.traffic.passes); });
  if (report.request.time.cluster.nodes() > 1) {
    columns.row("  to other nodes, mean of a node's ranks",
                [](const StagePlan& p) { return size_text(p.traffic.mean_inter); });
  }
  columns.row("losses and norms", [](const StagePlan& p) { return size_text(p.traffic.control); });
  return columns.text();
}

std::string time_text(const PlanReport& report) {
  if (report.stages.empty() || !report.stages.front().time) return "";
  Columns columns(report,
                  fmt::format("one step, {} collectives", name_of(report.request.time.algorithm)));
  columns.row("takes", [](const StagePlan& p) { return seconds_text(p.time->step_seconds); });
  columns.row("  computing",
              [](const StagePlan& p) { return seconds_text(p.time->compute_seconds); });
  columns.row("  communication that is not hidden",
              [](const StagePlan& p) { return seconds_text(p.time->exposed_seconds); });
  columns.row("communication, hidden or not",
              [](const StagePlan& p) { return seconds_text(p.time->communication_seconds); });
  columns.row("tokens a second, all ranks",
              [](const StagePlan& p) { return fmt::format("{:.4g}", p.time->tokens_per_second); });
  if (report.request.time.cluster.device.peak_flops > 0) {
    columns.row("model FLOPs utilisation",
                [](const StagePlan& p) { return fmt::format("{:.1f} %", 100 * p.time->mfu); });
  }
  return columns.text();
}

std::string capacity_text(const PlanReport& report) {
  if (report.capacities.empty()) return "";
  std::vector<std::string> heading = {"what fits"};
  std::vector<std::string> model = {"  largest model, all counted"};
  std::vector<std::string> states = {"  largest model by its states alone"};
  std::vector<std::string> batch = {"  largest micro-batch of this model"};
  for (const Capacity& capacity : report.capacities) {
    heading.push_back(capacity.stage);
    model.push_back(capacity.largest_model > 0
                        ? fmt::format("{:.3g}", static_cast<double>(capacity.largest_model))
                        : "none");
    states.push_back(fmt::format("{:.3g}", capacity.largest_by_states));
    batch.push_back(capacity.largest_micro_batch > 0 ? grouped(capacity.largest_micro_batch)
                                                     : "none");
  }
  TextTable table(heading);
  for (auto* row : {&model, &states, &batch}) table.add(std::move(*row));
  return table.text() + "\n";
}

std::string recomputation_text(const Recipe& recipe) {
  const int every = recipe.run.checkpoint_every;
  if (every == 0) return std::string(name_of(recipe.recompute));
  return every == 1 ? "of each block" : fmt::format("of {} blocks at once", every);
}

std::string head_text(const PlanReport& report) {
  const PlanRequest& request = report.request;
  const RunConfig& run = request.recipe.run;
  const PlannedModel& model = request.model;
  std::string text = fmt::format("{}: {} parameters", model.name, grouped(model.parameters()));
  if (model.spec.is_gpt()) {
    const GptConfig& gpt = model.spec.gpt();
    text += fmt::format(", {} layers, hidden size {}, {} heads, vocabulary {}", gpt.layers,
                        gpt.channels, gpt.heads, gpt.vocabulary);
  }
  const Cluster& cluster = request.time.cluster;
  text += fmt::format("\n{} on {}{}", counted(run.ranks, "rank"), counted(cluster.nodes(), "node"),
                      cluster.device.product.empty() ? "" : " of " + cluster.device.product);
  text += fmt::format(
      "; {}, {}, micro-batch {} x {} tokens, {} a step; recomputation {}; activations {}; "
      "accounting {}\n"
      "GB are 1e9 bytes, GiB are 2^30\n\n",
      run.precision, run.optimizer.name, run.micro_batch, planned_sequence(request.recipe, model),
      run.accumulate, recomputation_text(request.recipe), name_of(request.recipe.activations),
      name_of(request.recipe.accounting));
  return text;
}

}  // namespace

std::string plan_text(const PlanReport& report) {
  std::string text = head_text(report) + memory_text(report) + traffic_text(report) +
                     time_text(report) + capacity_text(report);
  if (report.estimate) text += estimate_text(*report.estimate) + "\n";
  if (report.advice) {
    text += report.advice->stage.empty()
                ? fmt::format("No stage fits: {}.\n", report.advice->reason)
                : fmt::format("Take {}: {}.\n", report.advice->stage, report.advice->reason);
  }
  for (const std::string& notice : report.notices) text += fmt::format("Note: {}.\n", notice);
  return text;
}

}  // namespace zerolab
