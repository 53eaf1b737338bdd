#include "experiments/plan/plan_report.h"

#include <nlohmann/json.hpp>

#include "experiments/plan/arithmetic.h"
#include "experiments/plan/units.h"

namespace zerolab {
namespace {

Json bytes_json(const CategoryBytes& bytes) {
  Json json = Json::object();
  for (int i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    if (category == Category::kChecks) continue;
    json[std::string(name_of(category))] = bytes[static_cast<std::size_t>(i)];
  }
  return json;
}

Json memory_json(const MemoryPlan& memory) {
  return {{"peak_bytes", memory.peak_bytes},
          {"peak_moment", memory.peak_moment},
          {"states_bytes", memory.states_bytes},
          {"at_peak", bytes_json(memory.at_peak)},
          {"peak_by_category", bytes_json(memory.peak_by_category)}};
}

Json traffic_json(const TrafficPlan& traffic) {
  Json lines = Json::array();
  for (const TrafficLine& line : traffic.lines) {
    lines.push_back({{"traffic", name_of(line.traffic)},
                     {"operation", name_of(line.op)},
                     {"calls", line.volume.calls},
                     {"sent_intra_bytes", line.volume.sent_intra},
                     {"sent_inter_bytes", line.volume.sent_inter},
                     {"received_intra_bytes", line.volume.received_intra},
                     {"received_inter_bytes", line.volume.received_inter}});
  }
  return {{"sent_bytes", traffic.sent},
          {"sent_inter_bytes", traffic.sent_inter},
          {"mean_sent_inter_bytes", traffic.mean_inter},
          {"control_sent_bytes", traffic.control},
          {"passes_over_parameters", traffic.passes},
          {"collectives", std::move(lines)}};
}

Json time_json(const StepTime& time) {
  return {{"step_seconds", time.step_seconds},
          {"compute_seconds", time.compute_seconds},
          {"communication_seconds", time.communication_seconds},
          {"exposed_communication_seconds", time.exposed_seconds},
          {"tokens_per_second", time.tokens_per_second},
          {"mfu", time.mfu},
          {"hfu", time.hfu}};
}

Json stage_json(const StagePlan& plan) {
  Json json = {{"stage", plan.stage},
               {"state_bytes_per_parameter", plan.bytes_per_parameter},
               {"memory", memory_json(plan.memory)},
               {"traffic", traffic_json(plan.traffic)}};
  if (plan.time) json["time"] = time_json(*plan.time);
  if (plan.fits) json["fits"] = *plan.fits;
  return json;
}

Json request_json(const PlanRequest& request) {
  const PlannedModel& model = request.model;
  const RunConfig& run = request.recipe.run;
  const Cluster& cluster = request.time.cluster;
  Json json = {{"model", model.name}, {"parameters", model.parameters()}};
  if (model.spec.is_gpt()) {
    const GptConfig& gpt = model.spec.gpt();
    json["layers"] = gpt.layers;
    json["hidden"] = gpt.channels;
    json["heads"] = gpt.heads;
    json["vocabulary"] = gpt.vocabulary;
  }
  json["recipe"] = {{"precision", run.precision},
                    {"optimizer", run.optimizer.name},
                    {"micro_batch", run.micro_batch},
                    {"sequence", planned_sequence(request.recipe, model)},
                    {"accumulate", run.accumulate},
                    {"accumulate_dtype", run.accumulate_dtype},
                    {"reduce_dtype", name_of(state_types(run).travelling)},
                    {"checkpoint_every", run.checkpoint_every},
                    {"recompute", name_of(request.recipe.recompute)},
                    {"activations", name_of(request.recipe.activations)},
                    {"accounting", name_of(request.recipe.accounting)},
                    {"bucket_elements", run.bucket_elements()},
                    {"overlap", run.overlap},
                    {"prefetch", run.overlap ? "the next unit" : "nothing"},
                    {"reduction", name_of(run.reduction)}};
  json["cluster"] = {{"device", cluster.device.name},
                     {"ranks", cluster.ranks},
                     {"ranks_per_node", cluster.on_node()},
                     {"memory_bytes", cluster.device.memory_bytes},
                     {"peak_flops", cluster.device.peak_flops},
                     {"product_flops", cluster.device.product_flops},
                     {"memory_bandwidth", cluster.device.memory_bandwidth},
                     {"intra_bandwidth", cluster.device.intra_bandwidth},
                     {"inter_bandwidth", cluster.device.inter_bandwidth},
                     {"intra_latency_seconds", cluster.latency.intra},
                     {"inter_latency_seconds", cluster.latency.inter},
                     {"algorithm", name_of(request.time.algorithm)}};
  return json;
}

Json estimate_lines_json(const std::vector<EstimateLine>& lines) {
  Json json = Json::array();
  for (const EstimateLine& line : lines) {
    json.push_back({{"item", line.item},
                    {"estimated_bytes", line.estimated},
                    {"exact_bytes", line.exact},
                    {"why", line.why}});
  }
  return json;
}

Json estimate_json(const EstimateComparison& comparison) {
  return {{"stage", comparison.input.stage},
          {"estimated_gpu_bytes", comparison.estimate.gpu_bytes},
          {"estimated_cpu_bytes", comparison.estimate.cpu_bytes},
          {"exact_bytes", comparison.exact_bytes},
          {"items", estimate_lines_json(comparison.device)},
          {"cpu_items", estimate_lines_json(comparison.host)}};
}

Json verification_json(const Verification& verification) {
  Json quantities = Json::array();
  for (const VerifiedQuantity& quantity : verification.quantities) {
    quantities.push_back({{"stage", quantity.stage},
                          {"quantity", quantity.name},
                          {"rank", quantity.rank},
                          {"planned", quantity.predicted},
                          {"measured", quantity.measured}});
  }
  return {{"agrees", verification.agrees()}, {"quantities", std::move(quantities)}};
}

class Csv {
 public:
  template <class T>
  void add(const std::string& stage, const char* group, std::string_view quantity, const char* unit,
           T value) {
    text_ += fmt::format("{},{},{},{},{}\n", stage, group, quantity, unit, value);
  }
  std::string text() { return std::move(text_); }

 private:
  std::string text_ = "stage,group,quantity,unit,value\n";
};

void add_stage(Csv& csv, const StagePlan& plan) {
  for (int i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    if (category == Category::kChecks) continue;
    csv.add(plan.stage, "memory at peak", name_of(category), "B",
            plan.memory.at_peak[static_cast<std::size_t>(i)]);
  }
  csv.add(plan.stage, "memory", "model states", "B", plan.memory.states_bytes);
  csv.add(plan.stage, "memory", "peak", "B", plan.memory.peak_bytes);
  csv.add(plan.stage, "memory", "states per parameter", "B", plan.bytes_per_parameter);
  for (const TrafficLine& line : plan.traffic.lines) {
    const std::string what = fmt::format("{} ({})", name_of(line.op), name_of(line.traffic));
    csv.add(plan.stage, "calls", what, "1", line.volume.calls);
    csv.add(plan.stage, "sent inside nodes", what, "B", line.volume.sent_intra);
    csv.add(plan.stage, "sent between nodes", what, "B", line.volume.sent_inter);
  }
  if (!plan.time) return;
  csv.add(plan.stage, "time", "step", "s", plan.time->step_seconds);
  csv.add(plan.stage, "time", "compute", "s", plan.time->compute_seconds);
  csv.add(plan.stage, "time", "communication", "s", plan.time->communication_seconds);
  csv.add(plan.stage, "time", "exposed communication", "s", plan.time->exposed_seconds);
  csv.add(plan.stage, "time", "tokens per second", "1/s", plan.time->tokens_per_second);
  csv.add(plan.stage, "time", "model FLOPs utilisation", "1", plan.time->mfu);
}

}  // namespace

void fill_plan(PlanReport& report) {
  report.stages = plan_stages(report.request);
  if (!report.request.model.assumed.empty()) {
    report.notices.push_back(report.request.model.assumed);
  }
  add_estimate(report);
  if (report.request.time.cluster.device.memory_bytes == 0) return;
  report.advice = cheapest_stage(report.stages, report.request);
  for (const StagePlan& plan : report.stages) {
    report.capacities.push_back({plan.stage, largest_model(plan.stage, report.request),
                                 largest_by_states(plan.stage, report.request),
                                 largest_micro_batch(plan.stage, report.request)});
  }
}

Json plan_json(const PlanReport& report) {
  Json json = {{"schema", "zerolab.plan/1"}};
  json.update(request_json(report.request));
  json["stages"] = Json::array();
  for (const StagePlan& plan : report.stages) json["stages"].push_back(stage_json(plan));
  for (const Capacity& capacity : report.capacities) {
    json["capacity"].push_back({{"stage", capacity.stage},
                                {"largest_model_parameters", capacity.largest_model},
                                {"largest_by_states_parameters", capacity.largest_by_states},
                                {"largest_micro_batch", capacity.largest_micro_batch}});
  }
  if (report.advice) {
    json["advice"] = {{"stage", report.advice->stage}, {"reason", report.advice->reason}};
  }
  if (report.estimate) json["deepspeed_estimate"] = estimate_json(*report.estimate);
  if (report.verification) json["verification"] = verification_json(*report.verification);
  json["notices"] = report.notices;
  return json;
}

std::string plan_csv(const PlanReport& report) {
  Csv csv;
  for (const StagePlan& plan : report.stages) add_stage(csv, plan);
  for (const Capacity& capacity : report.capacities) {
    csv.add(capacity.stage, "capacity", "largest model", "parameters", capacity.largest_model);
    csv.add(capacity.stage, "capacity", "largest by states", "parameters",
            capacity.largest_by_states);
    csv.add(capacity.stage, "capacity", "largest micro-batch", "sequences",
            capacity.largest_micro_batch);
  }
  return csv.text();
}

}  // namespace zerolab
