#include "experiments/compare/contribution_norms.h"

#include <cstring>

#include "experiments/checks/pack.h"
#include "stages/parallel/forwarding_stage.h"

namespace zerolab {

/// Measures each unit's gradient just before the stage reduces it.
class ContributionNorms::Probe final : public ForwardingStage {
 public:
  Probe(Stage& inner, ContributionNorms& norms) : ForwardingStage(inner), norms_(norms) {}

  void begin(const MicroBatch& micro_batch) override {
    reduce_ = micro_batch.reduce;
    inner_.begin(micro_batch);
  }
  View gradients(const Use& use) override { return last_ = inner_.gradients(use); }
  void gradients_ready(const Use& use) override {
    if (reduce_) norms_.measure(use.unit, last_);
    inner_.gradients_ready(use);
  }

 private:
  ContributionNorms& norms_;
  bool reduce_ = true;
  View last_;
};

ContributionNorms::ContributionNorms(const CheckContext& context, bool reports,
                                     std::vector<double>& sums)
    : context_(context), reports_(reports), sums_(sums) {
  const auto allocate = [&](DType dtype, std::int64_t count, const char* name) {
    return context_.device.allocate(dtype, count, Category::kChecks, name, context_.compute);
  };
  maximum_ = allocate(DType::kInt32, 1, "largest gradient");
  squares_ = allocate(DType::kFloat64, 3, "sum of squares");
  result_ = allocate(DType::kFloat32, 2, "norm and factor");
}

std::unique_ptr<Stage> ContributionNorms::probe(Stage& inner) {
  return std::make_unique<Probe>(inner, *this);
}

void ContributionNorms::measure(UnitId unit, View gradients) {
  const ParameterLayout& layout = context_.model.layout();
  Kernels& kernels = context_.kernels;
  Stream& stream = context_.compute;
  for (const TensorPlace& place : layout.unit(unit).places) {
    const std::int64_t count = layout.tensor(place.tensor).count();
    const View values = gradients.slice(place.offset, count);
    const std::vector<Segment> whole = {{place.tensor, 0, 0, count, false}};
    kernels.zero(stream, maximum_.view());
    kernels.zero(stream, squares_.view());
    kernels.max_magnitude(stream, values, whole, maximum_.view());
    kernels.sum_of_squares(stream, values, whole, maximum_.view(), count, squares_.view());
    kernels.norm_and_factor(stream, maximum_.view(), squares_.view(), 1, 1.0, 0, result_.view());
    Measured& measured = measured_.emplace_back();
    measured.tensor = place.tensor;
    kernels.download(stream, result_.view(), measured.norm_and_factor);
  }
}

std::vector<Finding> ContributionNorms::findings() {
  context_.compute.synchronize();
  std::vector<double> mine(context_.model.layout().tensors().size());
  for (const Measured& measured : measured_) {
    mine[static_cast<std::size_t>(measured.tensor)] +=
        static_cast<double>(measured.norm_and_factor[0]);
  }
  std::string text;
  pack_all(text, std::span<const double>(mine));
  const std::vector<std::string> all = context_.ranks.gather_texts(text);
  if (!reports_) return {};
  sums_.assign(mine.size(), 0);
  for (const std::string& theirs : all) {
    const std::vector<double> norms = Unpacker(theirs).take_all<double>();
    for (std::size_t t = 0; t < norms.size(); ++t) sums_[t] += norms[t];
  }
  return {};
}

}  // namespace zerolab
