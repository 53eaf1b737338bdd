#include "experiments/checks/provenance.h"

#include <algorithm>

#include "experiments/checks/ownership.h"
#include "experiments/checks/pack.h"
#include "experiments/checks/provenance_report.h"
#include "experiments/runner/drain_while_unwinding.h"
#include "experiments/runner/part_settings.h"
#include "stages/device/cpu/cpu_device.h"
#include "stages/kernels/cpu/cpu_kernels.h"

namespace zerolab {
namespace {

constexpr std::int64_t kLargestInstance = std::int64_t{1} << 20;

/// The same units, uses and names, small enough to be run through in a moment. Odd sizes keep
/// padding and ragged ends in play.
ModelSpec small_instance(ModelSpec model) {
  if (layout_of(model).parameter_count() <= kLargestInstance) return model;
  if (model.is_gpt()) {
    GptConfig config = model.gpt();
    config.channels = 40;
    config.heads = 1;
    config.max_time = 13;
    config.vocabulary = 71;
    model.config = config;
  } else {
    model.config = TiedMlpConfig{41};
  }
  return model;
}

StageSettings settings_for(const RunConfig& config, AccumulationOrder order, double scale) {
  StageSettings settings = stage_settings(config, order);
  settings.bucket_elements = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(config.bucket_elements()) * scale));
  // Its kernel is replaced; without momentum it holds nothing.
  settings.optimizer.name = "sgd";
  settings.optimizer.momentum = 0;
  settings.optimizer.weight_decay = 0;
  return settings;
}

TensorsVisited tensors_visited(const Model& model, int micro_batches) {
  TensorsVisited visited;
  for (int m = 0; m < micro_batches; ++m) {
    std::vector<bool>& tensors = visited.emplace_back(model.layout().tensors().size(), false);
    for (const Use& use : model.training_uses(m)) {
      if (use.phase != Phase::kBackward) continue;
      for (const TensorPlace& place : model.layout().unit(use.unit).places) {
        tensors[static_cast<std::size_t>(place.tensor)] = true;
      }
    }
  }
  return visited;
}

const Fault& fault_of(const RunInputs& inputs, const CleanParts& none) {
  return inputs.fault != nullptr ? *inputs.fault : none;
}

/// The type that holds the fewest integers of those that a contribution passes through.
DType coarsest(const Precision& precision) {
  DType coarsest = DType::kFloat32;
  for (const DType type : {precision.gradients(), precision.reduce, precision.accumulate}) {
    if (exact_integers(type) < exact_integers(coarsest)) coarsest = type;
  }
  return coarsest;
}

/// One rank's instance; members are built from the ground up and destroyed in the opposite order.
class ProvenanceRun {
 public:
  ProvenanceRun(RankContext& ranks, const RunInputs& inputs, const StageRun& run)
      : ranks_(ranks),
        config_(inputs.config),
        order_(run.order),
        spec_(small_instance(inputs.model)),
        layout_(layout_of(spec_)),
        codes_(spec_.dtype),
        digits_(coarsest(precision_of(config_, order_))),
        kernels_(std::make_unique<CodingKernels>(
            fault_of(inputs, none_).kernels(make_cpu_kernels(1), ranks.rank()), layout_, codes_)),
        device_(fault_of(inputs, none_)
                    .device(make_cpu_device({{}, config_.poison, config_.guarded}), ranks.rank())),
        compute_(device_->create_stream("compute")),
        second_(config_.overlap ? device_->create_stream("communication") : nullptr),
        comm_(fault_of(inputs, none_)
                  .communicator(ranks.create_communicator(*device_, second_ ? *second_ : *compute_,
                                                          comm_settings(config_)),
                                ranks.rank())),
        shape_(make_model(spec_, *device_, *compute_, *kernels_, 1, 1, model_options(config_))),
        model_(*shape_, *device_, *compute_, *kernels_),
        initial_(model_.numbers(), codes_, *kernels_),
        clipper_(fault_of(inputs, none_)
                     .clipper(std::make_unique<Clipper>(*device_, *compute_, *comm_, *kernels_, 0,
                                                        layout_.parameter_count()),
                              *device_, *compute_, *comm_, *kernels_, 0,
                              layout_.parameter_count())),
        stage_(fault_of(inputs, none_)
                   .stage(run.factory)({*device_, *compute_, *comm_, *kernels_, layout_, initial_,
                                        *clipper_, settings_for(config_, order_, scale(inputs))})),
        report_(layout_, model_.numbers(), codes_, digits_, ranks.world_size(),
                tensors_visited(*shape_, config_.accumulate), ranks.rank()) {}

  std::vector<Finding> run() {
    const DrainWhileUnwinding drain(*comm_, *compute_);
    for (int first = 0; first < report_.contributors(); first += report_.per_pass()) {
      const auto owned = pass([&](int contributor, std::int64_t) {
        const int digit = contributor - first;
        return digit >= 0 && digit < report_.per_pass() ? contributor_code(digit) : 0.0F;
      });
      report_.check_contributors(owned, first);
    }
    const int at_once = std::min(placed_per_pass(digits_), report_.contributors());
    for (int first = 0; first < report_.contributors(); first += at_once) {
      const int last = std::min(first + at_once, report_.contributors());
      std::vector<std::vector<OwnedCodes>> placed;
      for (const std::int64_t modulus : kPlacementModuli) {
        placed.push_back(pass([&](int contributor, std::int64_t number) {
          const bool writes = first <= contributor && contributor < last;
          return writes ? placement_code(number, modulus) : 0.0F;
        }));
      }
      report_.check_placement(placed[0], placed[1], first, last);
    }
    read_last_update();
    if (second_) second_->synchronize();
    compute_->synchronize();
    return report_.findings().take();
  }

 private:
  double scale(const RunInputs& inputs) const {
    return static_cast<double>(layout_.parameter_count()) /
           static_cast<double>(layout_of(inputs.model).parameter_count());
  }

  /// One global batch and its step; contributor c writes code(c, number).
  template <class Code>
  std::vector<OwnedCodes> pass(Code code) {
    ++step_;
    const int ranks = ranks_.world_size();
    for (int m = 0; m < config_.accumulate; ++m) {
      const int contributor = m * ranks + ranks_.rank();
      model_.contribute(
          [&, contributor](std::int64_t number) { return code(contributor, number); });
      const bool reduce = order_ == AccumulationOrder::kReduced || m + 1 == config_.accumulate;
      stage_->begin({m, config_.accumulate, reduce, shape_->training_uses(m)});
      model_.walk(*stage_, shape_->training_uses(m));
      check_readings();
    }
    std::vector<OwnedCodes> owned = owned_gradients();
    if (step_ == 1) check_owners();
    stage_->step({step_, 1.0F, 1.0});
    return owned;
  }

  void read_last_update() {
    ++step_;
    stage_->begin({0, 1, true, shape_->evaluation_uses()});
    model_.walk(*stage_, shape_->evaluation_uses());
    check_readings();
  }

  void check_readings() {
    for (const auto& reading : model_.take_readings()) report_.check_reading(reading, step_);
  }

  std::vector<OwnedCodes> owned_gradients() {
    std::vector<OwnedCodes> owned;
    const DrainWhileUnwinding drain(*comm_, *compute_);
    stage_->visit_owned(Category::kGradients, [&](const OwnedSlice& slice) {
      for (const Segment& s : slice.segments) {
        OwnedCodes& codes = owned.emplace_back();
        codes.tensor = s.tensor;
        codes.begin = s.tensor_begin;
        codes.values.resize(static_cast<std::size_t>(s.count));
        kernels_->download_fp32(*compute_, slice.values.slice(s.flat_begin, s.count),
                                codes.values.data());
      }
    });
    compute_->synchronize();
    return owned;
  }

  void check_owners() {
    for (const Category category : {Category::kGradients, Category::kParameters}) {
      std::string mine;
      pack_all(mine, std::span<const OwnedRun>(owned_runs(*stage_, category)));
      std::vector<std::vector<OwnedRun>> by_rank;
      for (const std::string& text : ranks_.gather_texts(mine)) {
        by_rank.push_back(Unpacker(text).take_all<OwnedRun>());
      }
      if (ranks_.rank() != 0) continue;  // all ranks see the same
      for (Finding& finding :
           check_ownership(layout_, category, by_rank, "PROV", name_of(category))) {
        report_.findings().add(std::move(finding));
      }
    }
  }

  RankContext& ranks_;
  const RunConfig& config_;
  AccumulationOrder order_;
  CleanParts none_;
  ModelSpec spec_;
  ParameterLayout layout_;
  ParameterCodes codes_;
  DType digits_;
  std::unique_ptr<Kernels> kernels_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> compute_, second_;
  std::unique_ptr<Communicator> comm_;
  std::unique_ptr<Model> shape_;
  ProvenanceModel model_;
  CodedParameters initial_;
  std::unique_ptr<Clipper> clipper_;
  std::unique_ptr<Stage> stage_;
  ProvenanceReport report_;
  std::int64_t step_ = 0;
};

}  // namespace

std::vector<Finding> check_provenance(RankContext& ranks, const RunInputs& inputs,
                                      const StageRun& run) {
  return ProvenanceRun(ranks, inputs, run).run();
}

}  // namespace zerolab
