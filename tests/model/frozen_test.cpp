// What a frozen tensor takes out of a model: its own gradient, and nothing of anyone else's.
#include <gmock/gmock.h>

#include <algorithm>

#include "stages/model/partition.h"
#include "tests/model/model_bench.h"

namespace zerolab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kBatch = 2, kTime = 7;

/// The gradients of all tensors that train, by name.
std::vector<std::pair<std::string, std::vector<float>>> gradients(const ModelSpec& spec) {
  ModelBench bench(spec, kBatch, kTime, {}, true);
  bench.stage().load(RandomWeights(bench.layout(), 0.1F));
  bench.forward_backward(random_batch(spec, kBatch, kTime, 0));
  std::vector<std::pair<std::string, std::vector<float>>> all;
  for (const TensorSpec& tensor : bench.layout().tensors()) {
    if (!tensor.frozen) all.emplace_back(tensor.name, bench.gradient(tensor.name));
  }
  return all;
}

std::vector<std::string> backward_visits(const ModelSpec& spec) {
  ModelBench bench(spec, 1, 4);
  std::vector<std::string> visits;
  for (const Use& use : bench.model().training_uses()) {
    if (use.phase != Phase::kBackward) continue;
    visits.push_back(bench.layout().unit(use.unit).name + (use.completes_gradient ? " done" : ""));
  }
  return visits;
}

ModelSpec with_frozen(const std::string& model, const std::vector<std::string>& tensors) {
  ModelSpec spec = parse_model(model);
  const ParameterLayout layout = layout_of(spec);
  for (const std::string& tensor : tensors) spec.frozen.push_back(layout.tensor_named(tensor));
  return spec;
}

/// Freezes every tensor of some units.
ModelSpec with_frozen_units(const std::string& model, const std::vector<std::string>& units) {
  ModelSpec spec = parse_model(model);
  const ParameterLayout layout = layout_of(spec);
  for (const UnitLayout& unit : layout.units()) {
    if (std::ranges::find(units, unit.name) == units.end()) continue;
    for (const TensorPlace& place : unit.places) spec.frozen.push_back(place.tensor);
  }
  return spec;
}

TEST(FrozenTensors, TakeNothingFromTheGradientsOfOthersWhicheverItIs) {
  for (const std::string model : {"gpt-micro", "tied-mlp"}) {
    const auto whole = gradients(parse_model(model));
    for (const auto& [frozen, unused] : whole) {
      const auto rest = gradients(with_frozen(model, {frozen}));
      ASSERT_EQ(rest.size(), whole.size() - 1);
      auto expected = whole.begin();
      for (const auto& [name, gradient] : rest) {
        if (expected->first == frozen) ++expected;
        EXPECT_EQ(name, expected->first);
        EXPECT_EQ(gradient, expected->second) << name << " with " << frozen << " frozen";
        ++expected;
      }
    }
  }
}

TEST(FrozenTensors, BelowTheLowestThatTrainsNeedNoBackward) {
  EXPECT_THAT(backward_visits(parse_model("gpt-micro")),
              ElementsAre("embedding", "ln_f done", "h.1 done", "h.0 done", "embedding done"));
  EXPECT_THAT(backward_visits(with_frozen_units("gpt-micro", {"embedding", "h.0"})),
              ElementsAre("embedding", "ln_f done", "h.1 done"));
  EXPECT_THAT(backward_visits(with_frozen_units("gpt-micro", {"embedding", "h.0", "h.1"})),
              ElementsAre("embedding", "ln_f done"));
  // The gradient passes through a frozen block on its way down.
  EXPECT_THAT(backward_visits(with_frozen_units("gpt-micro", {"h.1", "ln_f"})),
              ElementsAre("embedding", "ln_f", "h.1", "h.0 done", "embedding done"));
  // One trained tensor makes the unit complete a gradient.
  EXPECT_THAT(backward_visits(with_frozen("gpt-micro", {"wte.weight"})),
              ElementsAre("embedding", "ln_f done", "h.1 done", "h.0 done", "embedding done"));
}

TEST(FrozenTensors, HaveASpaceOfTheirOwn) {
  ParameterLayout layout;
  layout.add_unit("top", {{"a", {40}}, {"b", {3}}, {"c", {64}}});
  layout.add_unit("base", {{"d", {10}}});
  layout.freeze(1);
  layout.freeze(3);
  EXPECT_EQ(layout.parameter_count(), 117);
  EXPECT_EQ(layout.trained_count(), 104);
  EXPECT_EQ(layout.unit(0).size, 64 + 64);
  EXPECT_EQ(layout.unit(0).frozen_size, 32);
  EXPECT_EQ(layout.unit(1).size, 0);
  EXPECT_EQ(layout.place_of(2).offset, 64);  // right behind a, which took 64 with its gap

  const Partition trained = Partition::by_unit(layout, 2);
  EXPECT_EQ(trained.flat_size(), 128);
  EXPECT_TRUE(trained.piece(1).empty());
  const Partition frozen = Partition::by_unit(layout, 2, TensorKind::kFrozen);
  EXPECT_EQ(frozen.flat_size(), 128);  // 32 and 32 elements, each padded to 64
  std::vector<int> tensors;
  for (const Segment& s : frozen.segments({0, frozen.flat_size()})) tensors.push_back(s.tensor);
  EXPECT_THAT(tensors, ElementsAre(1, 3));
  tensors.clear();
  for (const Segment& s : trained.segments({0, trained.flat_size()})) tensors.push_back(s.tensor);
  EXPECT_THAT(tensors, ElementsAre(0, 2));
  EXPECT_THAT(Partition::by_bucket(layout, 2, 64).segments({128, 128}), IsEmpty());
}

}  // namespace
}  // namespace zerolab
