// Units that a micro-batch does not use, or completes out of turn, get the sum of what was handed
// over: zeros where nothing was.
#include <map>

#include "stages/device/cpu/cpu_device.h"
#include "stages/kernels/cpu/cpu_kernels.h"
#include "tests/stages/small_layout.h"
#include "tests/stages/training_run.h"

namespace zerolab {
namespace {

/// Rank r adds r + 1 + unit to every element of the units it uses; returns each tensor's reduced
/// gradient, as far as all its owned elements agree.
std::map<std::string, float> reduced_gradients(const std::string& name, int ranks,
                                               const std::vector<Use>& uses) {
  const ParameterLayout layout = test::small_layout();
  std::map<std::string, float> gradients;
  const auto world = make_thread_world(ranks);
  world->run([&](RankContext& context) {
    const auto kernels = make_cpu_kernels(1);
    const auto device = make_cpu_device({{}, true, true});  // poisoned and guarded
    const auto compute = device->create_stream("compute");
    const auto second = device->create_stream("communication");
    const auto comm = context.create_communicator(*device, *second, {});
    Clipper clipper(*device, *compute, *comm, *kernels, 1.0, layout.parameter_count());
    RandomParameters initial(layout, *kernels, 1);
    StageSettings settings;
    settings.bucket_elements = 64;
    const auto stage = stage_factory(name)(
        {*device, *compute, *comm, *kernels, layout, initial, clipper, settings});
    Buffer ones = device->allocate(DType::kFloat32, 96, Category::kWorkspace, "ones", *compute);

    stage->begin({0, 1, true, uses});
    for (const Use& use : uses) {
      stage->acquire(use);
      if (use.phase == Phase::kBackward) {
        const View gradient = stage->gradients(use);
        const View values = ones.slice(0, gradient.count);
        kernels->fill(*compute, values, static_cast<float>(context.rank() + 1 + use.unit));
        kernels->add(*compute, values, gradient);
      }
      if (use.completes_gradient) stage->gradients_ready(use);
      stage->release(use);
    }

    std::vector<std::pair<std::string, std::vector<float>>> mine;
    stage->visit_owned(Category::kGradients, [&](const OwnedSlice& slice) {
      for (const Segment& s : slice.segments) {
        mine.emplace_back(layout.tensor(s.tensor).name,
                          std::vector<float>(static_cast<std::size_t>(s.count)));
        kernels->download(*compute, slice.values.slice(s.flat_begin, s.count),
                          mine.back().second.data());
        compute->synchronize();
      }
    });
    std::string text;
    for (const auto& [tensor, values] : mine) {
      for (const float value : values) text += fmt::format("{} {}\n", tensor, value);
    }
    const std::vector<std::string> all = context.gather_texts(text);
    if (context.rank() != 0) return;
    for (const std::string& lines : all) {
      std::istringstream in(lines);
      std::string tensor;
      float value = 0;
      while (in >> tensor >> value) {
        const auto [place, fresh] = gradients.emplace(tensor, value);
        if (!fresh && place->second != value) place->second = std::nanf("");
      }
    }
  });
  return gradients;
}

class UnusedUnits : public testing::TestWithParam<std::string> {};

TEST_P(UnusedUnits, a_unit_that_no_rank_uses_has_a_gradient_of_zeros) {
  const std::vector<Use> uses = {{.unit = 0},
                                 {.unit = 2},
                                 {0, Phase::kBackward, true, true},
                                 {2, Phase::kBackward, true, true}};
  const auto gradients = reduced_gradients(GetParam(), 3, uses);
  EXPECT_EQ(gradients.at("head.weight"), 1 + 2 + 3);
  EXPECT_EQ(gradients.at("middle.weight"), 0);
  EXPECT_EQ(gradients.at("base.scale"), 3 + 4 + 5);
}

TEST_P(UnusedUnits, the_first_or_the_last_unit_may_be_the_unused_one) {
  const std::vector<Use> uses = {{.unit = 1}, {1, Phase::kBackward, true, true}};
  const auto gradients = reduced_gradients(GetParam(), 2, uses);
  EXPECT_EQ(gradients.at("head.bias"), 0);
  EXPECT_EQ(gradients.at("middle.weight"), 2 + 3);
  EXPECT_EQ(gradients.at("base.weight"), 0);
}

TEST_P(UnusedUnits, a_unit_used_twice_and_completed_out_of_turn_has_the_sum_of_both) {
  const std::vector<Use> uses = {{.unit = 2},
                                 {2, Phase::kBackward, true, false},
                                 {1, Phase::kBackward, true, true},
                                 {2, Phase::kBackward, true, true},
                                 {0, Phase::kBackward, true, true}};
  const auto gradients = reduced_gradients(GetParam(), 3, uses);
  EXPECT_EQ(gradients.at("head.weight"), 1 + 2 + 3);
  EXPECT_EQ(gradients.at("middle.weight"), 2 + 3 + 4);
  EXPECT_EQ(gradients.at("base.weight"), 2 * (3 + 4 + 5));
}

INSTANTIATE_TEST_SUITE_P(Stages, UnusedUnits, testing::Values("ddp", "zero1", "zero2", "zero3"));

}  // namespace
}  // namespace zerolab
