#include "experiments/plan/estimate_comparison.h"

#include <cmath>

#include "experiments/plan/text_table.h"
#include "experiments/plan/units.h"
#include "stages/core/error.h"

namespace zerolab {
namespace {

constexpr const char* kOffloaded = "the JSON offloads it to the host, which no stage here does";
constexpr const char* kOnDevices = "held on the devices here";

class Comparison {
 public:
  Comparison(const PlanRequest& request, const StagePlan& plan, const EstimatorInput& input)
      : types_(state_types(request.recipe.run)),
        accounting_(request.recipe.accounting),
        memory_(plan.memory),
        in_(input),
        P_(input.parameters),
        L_(input.largest_layer),
        n_(static_cast<double>(input.gpus_per_node)),
        nodes_(static_cast<double>(input.nodes)),
        N_(n_ * nodes_),
        three_(input.stage == 3) {}

  std::vector<EstimateLine> device() {
    const double states = in_.offload_optimizer ? 0 : P_ / N_;
    const bool parameters_leave = three_ && in_.offload_optimizer && in_.offload_parameters;
    state("16-bit parameters", Category::kParameters, 2,
          parameters_leave ? 0 : (three_ ? P_ / N_ : P_), "");
    gradients(states);
    state("fp32 gradients, own share", Category::kAccumulators, 4, states,
          "no fp32 copy is kept: the optimizer converts as it reads");
    state("fp32 master weights", Category::kMasterWeights, 4, states, "");
    state("fp32 first moments", Category::kFirstMoments, 4, states, "the optimizer keeps none");
    state("fp32 second moments", Category::kSecondMoments, 4, states, "the optimizer keeps none");
    add("gathered 16-bit parameters", three_ ? 2 * L_ : 0, held(Category::kGatheredParameters),
        "what is gathered at the moment of the largest total: with overlap the next unit too");
    add("unreduced gradients of units", three_ ? 2 * L_ : 0, held(Category::kUnitGradients),
        three_ ? "all that are alive at that moment: the tied embedding's lives longest"
               : "a unit's gradient until it has moved into a bucket");
    add("gradient buckets", 0, held(Category::kGradientBuckets), "not estimated");
    add("activations", 0, held(Category::kActivations), "not estimated: model states only");
    add("workspace", 0, held(Category::kWorkspace), "not estimated");
    add("communication staging", 0, held(Category::kCommunicationStaging), "not estimated");
    return std::move(lines_);
  }

  /// The terms of `deepspeed_estimate`'s host memory, before the factor for buffers and with it.
  std::vector<EstimateLine> host() {
    const double share = three_ ? P_ / nodes_ : P_;
    double sum = 0;
    const auto term = [&](const char* item, double estimated, const char* why) {
      add(item, estimated, 0, why);
      sum += estimated;
    };
    if (in_.offload_optimizer) {
      if (three_ && in_.offload_parameters) term("16-bit parameters", 2 * share, kOnDevices);
      term("fp32 gradients", 4 * share, "no fp32 copy is kept");
      term("fp32 master weights", 4 * share, kOnDevices);
      term("fp32 first moments", 4 * share, kOnDevices);
      term("fp32 second moments", 4 * share, kOnDevices);
    }
    const bool sharded = three_ && in_.zero_init;
    const double copies = sharded ? (in_.offload_optimizer ? 0 : 4 * n_ * L_)
                                  : 4 * (three_ || !in_.offload_optimizer ? n_ : N_) * P_;
    term(sharded ? "each process's largest layer in fp32, while the model is built"
                 : "each process's model in fp32, while it is built",
         std::max(0.0, copies - sum), "weights are drawn where they are owned");
    add("additional buffers, half as much again", (kAdditionalBufferFactor - 1) * sum, 0,
        "nothing is staged on the host");
    return std::move(lines_);
  }

 private:
  double held(Category category) const {
    return static_cast<double>(memory_.at_peak[static_cast<std::size_t>(category)]);
  }

  void add(const char* item, double estimated, double exact, std::string why) {
    if (estimated == 0 && exact == 0) return;
    if (estimated == exact) why.clear();
    lines_.push_back({item, estimated, exact, std::move(why)});
  }

  /// `bytes` each of `elements` there, as the plan has them here.
  void state(const char* item, Category category, double bytes, double elements,
             const char* why_absent) {
    const double exact = held(category);
    if (exact == 0) return add(item, bytes * elements, exact, why_absent);
    if (elements == 0) return add(item, 0, exact, kOffloaded);
    add(item, bytes * elements, exact, departure(category, bytes));
  }

  void gradients(double elements) {
    if (!three_ || in_.offload_optimizer) {
      return state("16-bit gradients, own share", Category::kGradients, 2, elements, "");
    }
    add("16-bit gradients, own share", 0, held(Category::kGradients),
        "the share is kept until the update; the estimator counts it as fp32 only");
  }

  /// Why a state that both keep has another size.
  std::string departure(Category category, double bytes) const {
    if (accounting_ != Accounting::kMeasured) {
      return fmt::format("as --accounting {} counts", name_of(accounting_));
    }
    DType here = bytes == 2 ? types_.parameters : DType::kFloat32;
    if (category == Category::kGradients) here = types_.gradients;
    if (category == Category::kAccumulators) here = types_.accumulators;
    const char* padding = "padding: shards are cut in multiples of 32 elements";
    if (static_cast<double>(size_of(here)) == bytes) return padding;
    return fmt::format("{} here; and {}", name_of(here), padding);
  }

  StateTypes types_;
  Accounting accounting_;
  const MemoryPlan& memory_;
  const EstimatorInput& in_;
  double P_, L_, n_, nodes_, N_;
  bool three_;
  std::vector<EstimateLine> lines_;
};

std::string signed_size(double difference) {
  return (difference < 0 ? "-" : "+") + size_text(std::abs(difference));
}

std::string table_text(const std::string& title, const std::vector<EstimateLine>& lines,
                       double estimated, double exact) {
  TextTable table({title, "DeepSpeed's estimate", "exact", "difference", ""});
  for (const EstimateLine& line : lines) {
    table.add({"  " + line.item, size_text(line.estimated), size_text(line.exact),
               signed_size(line.exact - line.estimated), line.why});
  }
  const auto gib = [](double bytes) { return fmt::format("{:.2f} GiB", bytes / (1 << 30)); };
  table.add({"  together", size_text(estimated), size_text(exact), signed_size(exact - estimated)});
  table.add({"  the same in GiB, which DeepSpeed prints as GB", gib(estimated), gib(exact)});
  return table.text();
}

}  // namespace

EstimateComparison compare_with_estimator(const PlanRequest& request, const StagePlan& plan,
                                          EstimatorInput input) {
  if (request.recipe.run.precision == "fp32") {
    bad_input("[plan] DeepSpeed estimates 16-bit training; enable bf16 or fp16 in the JSON");
  }
  input.parameters = static_cast<double>(request.model.parameters());
  input.largest_layer = static_cast<double>(request.model.largest_unit());
  EstimateComparison result;
  result.input = input;
  result.estimate = deepspeed_estimate(input);
  result.exact_bytes = static_cast<double>(plan.memory.peak_bytes);
  result.device = Comparison(request, plan, input).device();
  result.host = Comparison(request, plan, input).host();
  return result;
}

std::string estimate_text(const EstimateComparison& comparison) {
  return table_text(fmt::format("stage {} on one device", comparison.input.stage),
                    comparison.device, comparison.estimate.gpu_bytes, comparison.exact_bytes) +
         "\n" +
         table_text("and on one node's host", comparison.host, comparison.estimate.cpu_bytes, 0);
}

}  // namespace zerolab
