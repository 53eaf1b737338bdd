// transformers #34191, verl #5625: each rank takes the mean over its own tokens, and the ranks'
// means are averaged. Where ranks hold unequal numbers of tokens that is not the mean over all of
// them, and it depends on how the batch is dealt out.
#include <numeric>

#include "experiments/faults/faults.h"
#include "experiments/faults/labelled_fault.h"

namespace zerolab {
namespace {

class MeanOfRankMeans final : public LossWeighting {
 public:
  float of_micro_batch(std::span<const std::int64_t> valid, std::int64_t terms) const override {
    const std::int64_t own = std::accumulate(valid.begin(), valid.end(), std::int64_t{0});
    if (own == 0) return 1;  // the gradient is zero anyway
    const auto all = static_cast<double>(terms) * static_cast<double>(valid.size());
    return static_cast<float>(all / static_cast<double>(own));
  }
  double gradient_scale(std::int64_t, std::int64_t, std::int64_t micro_batches) const override {
    return 1.0 / static_cast<double>(micro_batches);
  }
};

FaultLabel label() {
  FaultLabel label;
  label.name = "mean-of-means";
  label.source = "transformers #34191, verl #5625";
  label.stage = "zero2";
  label.happened =
      "Each rank divides by the number of its own tokens and the ranks' means are averaged, where "
      "the mean over the tokens of all ranks is wanted.";
  label.seen =
      "Training with gradient accumulation, or on more ranks, does not reproduce the large batch; "
      "the loss looks a little worse, and worse the more the lengths of sequences differ.";
  label.needs = {"--padding 0.9", "--check IG"};
  label.must_fire = {{"IG", false, 1, "gradients", "micro-batches instead of"},
                     {"REF", true, 1, "gradients", ""}};
  return label;
}

class MeanOfMeans final : public LabelledFault {
 public:
  MeanOfMeans() : LabelledFault(zerolab::label()) {}
  std::unique_ptr<LossWeighting> loss_weighting(std::unique_ptr<LossWeighting>) const override {
    return std::make_unique<MeanOfRankMeans>();
  }
};

}  // namespace

std::unique_ptr<Fault> make_mean_of_means() { return std::make_unique<MeanOfMeans>(); }

}  // namespace zerolab
