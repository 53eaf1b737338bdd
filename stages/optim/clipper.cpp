#include "stages/optim/clipper.h"

namespace zerolab {
namespace {
constexpr std::int64_t kFolds =
    3;  // fp64 partial sums a rank contributes (Kernels::sum_of_squares)
}

Clipper::Clipper(Device& device, Stream& compute, Communicator& comm, Kernels& kernels,
                 double max_norm, std::int64_t global_count)
    : compute_(compute),
      comm_(comm),
      kernels_(kernels),
      max_norm_(max_norm),
      global_count_(global_count) {
  const auto allocate = [&](DType dtype, std::int64_t count, const char* name) {
    return device.allocate(dtype, count, Category::kWorkspace, name, compute);
  };
  const std::int64_t ranks = comm.world_size();
  maximum_ = allocate(DType::kInt32, 1, "largest gradient");
  sums_ = allocate(DType::kFloat64, kFolds, "sum of squares");
  all_maxima_ = allocate(DType::kInt32, ranks, "largest gradients of all ranks");
  all_sums_ = allocate(DType::kFloat64, kFolds * ranks, "sums of squares of all ranks");
  result_ = allocate(DType::kFloat32, 2, "norm and factor");
  kernels.zero(compute, result_.view());
}

View Clipper::factor(const std::vector<OwnedSlice>& gradients, double scale) {
  const bool replicated = gradients.empty() || gradients.front().replicated;
  kernels_.zero(compute_, maximum_.view());
  for (const OwnedSlice& slice : gradients) {
    kernels_.max_magnitude(compute_, slice.values, slice.segments, maximum_.view());
  }
  const View maxima = replicated ? maximum_.view()
                                 : gather(maximum_.view(), all_maxima_.view(), "largest gradient");
  kernels_.zero(compute_, sums_.view());
  for (const OwnedSlice& slice : gradients) {
    kernels_.sum_of_squares(compute_, slice.values, slice.segments, maxima, global_count_,
                            sums_.view());
  }
  const View sums =
      replicated ? sums_.view() : gather(sums_.view(), all_sums_.view(), "sum of squares");
  finish(maxima, sums, replicated ? 1 : comm_.world_size(), scale);
  return result_.slice(1, 1);
}

View Clipper::gather(View mine, View all, const char* what) {
  comm_.wait(compute_.record(), what);
  comm_.all_gather(mine, all, {what, Traffic::kControl, ""});
  compute_.wait(comm_.record(), what);
  return all;
}

void Clipper::finish(View maxima, View sums, int parts, double scale) {
  kernels_.norm_and_factor(compute_, maxima, sums, parts, scale, max_norm_, result_.view());
}

}  // namespace zerolab
