#include <gmock/gmock.h>

#include "tests/model/model_bench.h"

namespace zerolab {
namespace {

ModelSpec tied_mlp(std::int64_t width) {
  ModelSpec spec = parse_model("tied-mlp");
  spec.config = TiedMlpConfig{width};
  return spec;
}

TEST(TiedMlp, HoldsNineLayersForTheTenThatItApplies) {
  const ParameterLayout layout = layout_of(parse_model("tied-mlp"));
  EXPECT_EQ(layout.units().size(), 9U);
  EXPECT_EQ(layout.units().front().name, "layers.8");
  EXPECT_EQ(layout.units().back().name, "layers.0");
  EXPECT_EQ(layout.parameter_count(), 9 * (64 * 64 + 64));
}

TEST(TiedMlp, AddsTheGradientsOfBothPlacesOfTheTiedLayer) {
  // With every weight the identity and every bias 0, y = x, and with e = 2 (y − t) / (B F) each of
  // the ten layers has the weight gradient xᵀe; the tied one therefore has twice that of another.
  const std::int64_t width = 3, batch = 4;
  ModelBench bench(tied_mlp(width), batch, 1);
  const ParameterLayout& layout = bench.layout();
  for (int tensor = 0; tensor < static_cast<int>(layout.tensors().size()); ++tensor) {
    for (std::int64_t i = 0; i < layout.tensor(tensor).count(); ++i) {
      const bool diagonal = layout.tensor(tensor).shape.size() == 2 && i % (width + 1) == 0;
      bench.stage().set_parameter(tensor, i, diagonal ? 1.0F : 0.0F);
    }
  }
  bench.forward_backward(random_batch(tied_mlp(width), batch, 1, 0));
  for (const char* kind : {"weight", "bias"}) {
    const std::vector<float> tied = bench.gradient(fmt::format("layers.0.{}", kind));
    const std::vector<float> other = bench.gradient(fmt::format("layers.4.{}", kind));
    for (std::size_t i = 0; i < tied.size(); ++i) {
      EXPECT_NE(other[i], 0.0F);
      EXPECT_FLOAT_EQ(tied[i], 2 * other[i]) << kind << "[" << i << "]";
    }
  }
}

TEST(TiedMlp, TouchesOnlyMemoryThatItsOperationsDeclare) {
  const ModelSpec spec = tied_mlp(7);
  ModelBench bench(spec, 3, 1, {}, true);
  bench.stage().load(RandomWeights(bench.layout(), 0.3F));
  EXPECT_GT(bench.forward_backward(random_batch(spec, 3, 1, 0)), 0.0);
}

TEST(TiedMlp, RefusesAWidthOfZero) { EXPECT_THROW(tied_mlp_layout({0}), BadInput); }

}  // namespace
}  // namespace zerolab
