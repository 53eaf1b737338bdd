/// \file
/// Runs an optimizer on ranks that hold slices of a small network, without a model.
#pragma once

#include <string>
#include <vector>

#include "stages/comm/world.h"
#include "stages/device/cpu/cpu_device.h"
#include "stages/kernels/cpu/cpu_kernels.h"
#include "stages/optim/optimizer.h"
#include "stages/parallel/owned_slices.h"
#include "tests/kernels/kernel_bench.h"

namespace zerolab::test {

/// Wide, tall, square and hidden; an embedding that is none; biases from 0 and norms.
inline ParameterLayout small_network() {
  ParameterLayout layout;
  const auto matrix = [](const char* name, std::int64_t in, std::int64_t out) {
    return TensorSpec{name, {in, out}, Init::kNormal, 0.02F, true, true};
  };
  layout.add_unit("last", {{.name = "last.norm", .shape = {24}, .init = Init::kOnes}});
  layout.add_unit("h.1", {matrix("h.1.wide", 24, 40),
                          {.name = "h.1.bias", .shape = {40}, .init = Init::kZeros},
                          matrix("h.1.tall", 40, 24)});
  layout.add_unit(
      "h.0", {matrix("h.0.square", 24, 24), matrix("h.0.small", 3, 7), matrix("h.0.wide", 24, 40)});
  layout.add_unit("embedding", {{.name = "embedding", .shape = {16, 24}, .decay = true}});
  return layout;
}

/// Elements of each tensor of a layout.
using Tensors = std::vector<std::vector<float>>;

inline Tensors starting_values(const ParameterLayout& layout) {
  Tensors all;
  for (const TensorSpec& tensor : layout.tensors()) {
    all.push_back(
        testing_kernels::numbers(tensor.count(), static_cast<std::uint32_t>(1 + all.size()), 0.3F));
    if (tensor.init == Init::kZeros) std::ranges::fill(all.back(), 0.0F);
  }
  return all;
}

inline Tensors gradients_of_step(const ParameterLayout& layout, std::int64_t step) {
  Tensors all;
  for (const TensorSpec& tensor : layout.tensors()) {
    all.push_back(testing_kernels::numbers(
        tensor.count(),
        static_cast<std::uint32_t>(1000 * step) + static_cast<std::uint32_t>(all.size()), 2.0F));
  }
  return all;
}

enum class Cut { kNone, kByBucket, kByUnit };

struct OptimizerRun {
  OptimizerSettings settings;
  int ranks = 1;
  Cut cut = Cut::kNone;
  bool overlap = true;
  std::int64_t steps = 3;
  float learning_rate = 0.05F;
  float factor = 0.5F;
};

/// The parameters after the steps, collected from their owners.
inline Tensors run_optimizer(const ParameterLayout& layout, const OptimizerRun& run) {
  Tensors result = starting_values(layout);
  const Tensors start = result;
  make_thread_world(run.ranks, 20)->run([&](RankContext& ranks) {
    const auto device = make_cpu_device({.observers = {}, .poison = true, .guarded = true});
    const auto kernels = make_cpu_kernels(1);
    const auto compute = device->create_stream("compute");
    const auto second = run.overlap ? device->create_stream("communication") : nullptr;
    const auto comm =
        ranks.create_communicator(*device, second ? *second : *compute, {.checked = true});
    const Partition partition = run.cut == Cut::kByUnit
                                    ? Partition::by_unit(layout, run.ranks)
                                    : Partition::by_bucket(layout, run.ranks, 500);
    const bool whole = run.cut == Cut::kNone;
    const std::int64_t size = whole ? partition.flat_size() : partition.owned_size();
    const auto allocate = [&](std::int64_t count, Category category) {
      return device->allocate(DType::kFloat32, count, category, "test", *compute);
    };
    const Buffer p = allocate(size, Category::kParameters),
                 g = allocate(size, Category::kGradients),
                 factor = allocate(1, Category::kWorkspace);
    const auto slices = [&](View view) {
      return whole ? replicated_slices(partition, view)
                   : slices_in_shard(partition, ranks.rank(), view);
    };
    const auto each_segment = [&](const std::vector<OwnedSlice>& owned, const auto& action) {
      for (const OwnedSlice& slice : owned) {
        for (const Segment& s : slice.segments) {
          action(slice.values.slice(s.flat_begin, s.count), s);
        }
      }
    };
    const auto upload = [&](const std::vector<OwnedSlice>& owned, const Tensors& values) {
      each_segment(owned, [&](View view, const Segment& s) {
        kernels->upload(*compute,
                        values[static_cast<std::size_t>(s.tensor)].data() + s.tensor_begin,
                        view.bytes(), view);
      });
    };
    const auto parameters = slices(p.view()), gradients = slices(g.view());
    kernels->fill(*compute, factor.view(), run.factor);
    upload(parameters, start);
    const auto optimizer =
        make_optimizer(run.settings, {*device, *compute, *comm, *kernels, partition, size});
    for (std::int64_t step = 1; step <= run.steps; ++step) {
      upload(gradients, gradients_of_step(layout, step));
      optimizer->update(parameters, gradients, factor.view(), {step, run.learning_rate, 1.0});
    }
    if (!whole || ranks.rank() == 0) {
      each_segment(parameters, [&](View view, const Segment& s) {
        kernels->download(*compute, view,
                          result[static_cast<std::size_t>(s.tensor)].data() + s.tensor_begin);
      });
    }
    comm->stream().synchronize();
    compute->synchronize();
  });
  return result;
}

}  // namespace zerolab::test
