#include <gmock/gmock.h>

#include <cmath>

#include "stages/model/gpt_config.h"
#include "stages/model/model_factory.h"

namespace zerolab {
namespace {

using testing::ElementsAre;

std::vector<std::string> unit_names(const ParameterLayout& layout) {
  std::vector<std::string> names;
  for (const UnitLayout& unit : layout.units()) names.push_back(unit.name);
  return names;
}

const TensorSpec& named(const ParameterLayout& layout, const std::string& name) {
  return layout.tensor(layout.tensor_named(name));
}

TEST(GptLayout, OrdersUnitsAsTheirGradientsComplete) {
  EXPECT_THAT(unit_names(layout_of(parse_model("gpt-micro"))),
              ElementsAre("ln_f", "h.1", "h.0", "embedding"));
}

TEST(GptLayout, HasThePublishedParameterCountOfGpt2) {
  EXPECT_EQ(layout_of(parse_model("gpt2-124m")).parameter_count(), 124'439'808);
}

TEST(GptLayout, CarriesHuggingFacesNamesAndShapes) {
  const ParameterLayout layout = layout_of(parse_model("gpt-micro"));
  const auto shape = [&](const char* name) { return named(layout, name).shape; };
  EXPECT_THAT(shape("wte.weight"), ElementsAre(256, 32));
  EXPECT_THAT(shape("wpe.weight"), ElementsAre(16, 32));
  EXPECT_THAT(shape("h.1.ln_1.weight"), ElementsAre(32));
  EXPECT_THAT(shape("h.1.attn.c_attn.weight"), ElementsAre(32, 96));
  EXPECT_THAT(shape("h.1.attn.c_attn.bias"), ElementsAre(96));
  EXPECT_THAT(shape("h.1.attn.c_proj.weight"), ElementsAre(32, 32));
  EXPECT_THAT(shape("h.0.mlp.c_fc.weight"), ElementsAre(32, 128));
  EXPECT_THAT(shape("h.0.mlp.c_proj.weight"), ElementsAre(128, 32));
  EXPECT_THAT(shape("h.0.mlp.c_proj.bias"), ElementsAre(32));
  EXPECT_THAT(shape("ln_f.bias"), ElementsAre(32));
}

TEST(GptLayout, NumbersTheTensorsOfAUnitAsTheModelAddressesThem) {
  const ParameterLayout layout = layout_of(parse_model("gpt-micro"));
  const auto name = [&](UnitId unit, int index) {
    return layout.tensor(layout.unit(unit).places.at(static_cast<std::size_t>(index)).tensor).name;
  };
  EXPECT_EQ(name(1, kLn1Weight), "h.1.ln_1.weight");
  EXPECT_EQ(name(1, kAttentionBias), "h.1.attn.c_attn.bias");
  EXPECT_EQ(name(2, kAttentionProjectionWeight), "h.0.attn.c_proj.weight");
  EXPECT_EQ(name(2, kLn2Bias), "h.0.ln_2.bias");
  EXPECT_EQ(name(2, kFcWeight), "h.0.mlp.c_fc.weight");
  EXPECT_EQ(name(2, kFcProjectionBias), "h.0.mlp.c_proj.bias");
  EXPECT_EQ(name(3, kTokenEmbedding), "wte.weight");
  EXPECT_EQ(name(3, kPositionEmbedding), "wpe.weight");
  EXPECT_EQ(name(0, kFinalNormBias), "ln_f.bias");
}

TEST(GptLayout, DecaysMatricesOnly) {
  const ParameterLayout layout = layout_of(parse_model("gpt-micro"));
  for (const TensorSpec& tensor : layout.tensors()) {
    EXPECT_EQ(tensor.decay, tensor.shape.size() == 2) << tensor.name;
  }
}

TEST(GptLayout, StartsResidualProjectionsSmallerByTheSquareRootOfTwiceTheLayers) {
  const ParameterLayout layout = layout_of(parse_model("gpt-tiny"));  // L = 4
  EXPECT_FLOAT_EQ(named(layout, "wte.weight").deviation, 0.02F);
  EXPECT_FLOAT_EQ(named(layout, "h.2.mlp.c_fc.weight").deviation, 0.02F);
  EXPECT_FLOAT_EQ(named(layout, "h.2.mlp.c_proj.weight").deviation, 0.02F / std::sqrt(8.0F));
  EXPECT_FLOAT_EQ(named(layout, "h.2.attn.c_proj.weight").deviation, 0.02F / std::sqrt(8.0F));
  EXPECT_EQ(named(layout, "h.2.ln_1.weight").init, Init::kOnes);
  EXPECT_EQ(named(layout, "h.2.attn.c_attn.bias").init, Init::kZeros);
}

TEST(GptLayout, RefusesHeadsThatDoNotDivideTheChannels) {
  EXPECT_THROW(gpt_layout({2, 32, 3, 16, 256}), BadInput);
}

TEST(GptLayout, RefusesAnExtentOfZero) {
  EXPECT_THROW(gpt_layout({0, 32, 2, 16, 256}), BadInput);
  EXPECT_THROW(gpt_layout({2, 32, 2, 16, 0}), BadInput);
}

}  // namespace
}  // namespace zerolab
