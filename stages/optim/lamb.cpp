#include "stages/optim/lamb.h"

#include <algorithm>

namespace zerolab {
namespace {

constexpr std::int64_t kFolds = 3;  // fp64 partial sums of an order-free sum

}  // namespace

Lamb::Lamb(const OptimizerSettings& settings, const OptimizerParts& parts)
    : SliceOptimizer(settings, parts),
      tensors_(static_cast<std::int64_t>(parts.partition.layout().tensors().size())),
      largest_count_(0),
      gathers_(!parts.replicated() && settings.lamb_norms == LambNorms::kTensor),
      direction_(parts.workspace(DType::kFloat32, parts.size, "direction")),
      maxima_(parts.workspace(DType::kInt32, 2 * tensors_, "largest of each tensor")),
      sums_(parts.workspace(DType::kFloat64, 2 * kFolds * tensors_, "squares of each tensor")),
      ratios_(parts.workspace(DType::kFloat32, tensors_, "trust ratios")),
      rates_(settings.groups) {
  for (const TensorSpec& tensor : parts.partition.layout().tensors()) {
    largest_count_ = std::max(largest_count_, tensor.count());
  }
  for (GroupRule& group : rates_) group.weight_decay = 0;
  if (!gathers_) return;
  const std::int64_t ranks = comm_.world_size();
  all_maxima_ = parts.workspace(DType::kInt32, ranks * maxima_.count(), "all ranks' largest");
  all_sums_ = parts.workspace(DType::kFloat64, ranks * sums_.count(), "all ranks' squares");
  largest_ = parts.workspace(DType::kInt32, maxima_.count(), "largest of all ranks");
}

void Lamb::prepare(const std::vector<UpdateSlice>& slices, View factor,
                   const StepSettings& settings) {
  const View w_maxima = maxima_.slice(0, tensors_), u_maxima = maxima_.slice(tensors_, tensors_);
  kernels_.zero(compute_, maxima_.view());
  for (const UpdateSlice& s : slices) {
    const View u = direction_.slice(s.place);
    kernels_.lamb_direction(
        compute_, s.parameters, s.gradients, state(Category::kFirstMoments, s.place),
        state(Category::kSecondMoments, s.place), u, factor, adamw_rule(settings), s.segments);
    kernels_.tensor_maxima(compute_, s.parameters, s.segments, w_maxima);
    kernels_.tensor_maxima(compute_, u, s.segments, u_maxima);
  }
  const View maxima = agreed_maxima();
  kernels_.zero(compute_, sums_.view());
  for (const UpdateSlice& s : slices) {
    kernels_.tensor_sums(compute_, s.parameters, s.segments, maxima.slice(0, tensors_),
                         largest_count_, sums_.slice(0, kFolds * tensors_));
    kernels_.tensor_sums(compute_, direction_.slice(s.place), s.segments,
                         maxima.slice(tensors_, tensors_), largest_count_,
                         sums_.slice(kFolds * tensors_, kFolds * tensors_));
  }
  agree_on_ratios();
}

View Lamb::agreed_maxima() {
  if (!gathers_) return maxima_.view();
  communicate("largest of each tensor", [this](Communicator& comm) {
    comm.all_gather(maxima_.view(), all_maxima_.view(),
                    {"largest of each tensor", Traffic::kControl, ""});
  });
  kernels_.combine_maxima(compute_, all_maxima_.view(), comm_.world_size(), largest_.view());
  return largest_.view();
}

void Lamb::agree_on_ratios() {
  if (!gathers_) return kernels_.trust_ratios(compute_, sums_.view(), 1, ratios_.view());
  communicate("squares of each tensor", [this](Communicator& comm) {
    comm.all_gather(sums_.view(), all_sums_.view(),
                    {"squares of each tensor", Traffic::kControl, ""});
  });
  kernels_.trust_ratios(compute_, all_sums_.view(), comm_.world_size(), ratios_.view());
}

void Lamb::update_slice(const UpdateSlice& slice, View factor, const StepSettings& settings) {
  kernels_.step_along(compute_, slice.parameters, direction_.slice(slice.place), ratios_.view(),
                      factor, {settings.learning_rate, 0, rates_}, slice.segments);
}

}  // namespace zerolab
