#include "stages/checkpoint/weights.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stages/core/error.h"
#include "stages/device/cpu/cpu_device.h"
#include "stages/kernels/cpu/cpu_kernels.h"
#include "stages/model/model_factory.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

GptConfig micro() { return parse_model("gpt-micro").gpt(); }

std::vector<float> read(const TensorSource& source, int tensor, Range elements) {
  std::vector<float> values(static_cast<std::size_t>(elements.size()));
  source.read(tensor, elements, values.data());
  return values;
}

TEST(InitialWeights, AreTheNumbersThatTheNormalKernelDraws) {
  const ParameterLayout layout = gpt_layout(micro());
  const std::uint64_t seed = 0x123456789abcdef0;
  const std::unique_ptr<Device> device = make_cpu_device();
  const std::unique_ptr<Kernels> kernels = make_cpu_kernels(1);
  const std::unique_ptr<Stream> compute = device->create_stream("compute");
  const Range odd{3, 1001};
  const Buffer buffer =
      device->allocate(DType::kFloat32, odd.size(), Category::kWorkspace, "draw", *compute);
  for (const char* name : {"wte.weight", "h.1.mlp.c_proj.weight"}) {
    const int tensor = layout.tensor_named(name);
    std::vector<float> drawn(static_cast<std::size_t>(odd.size()));
    kernels->normal(*compute, buffer.view(), layout.tensor(tensor).deviation, seed,
                    static_cast<std::uint64_t>(tensor), odd.begin);
    kernels->download(*compute, buffer.view(), drawn.data());
    compute->synchronize();
    EXPECT_EQ(read(InitialWeights(layout, seed), tensor, odd), drawn) << name;
  }
}

TEST(InitialWeights, DoNotDependOnTheCut) {
  const ParameterLayout layout = gpt_layout(micro());
  const InitialWeights source(layout, 5);
  const int tensor = layout.tensor_named("h.0.attn.c_attn.weight");
  const std::vector<float> whole = read(source, tensor, {0, 3072});
  for (const Range cut :
       {Range{0, 1}, Range{1, 6}, Range{6, 7}, Range{7, 2050}, Range{2050, 3072}}) {
    EXPECT_EQ(read(source, tensor, cut),
              std::vector<float>(whole.begin() + cut.begin, whole.begin() + cut.end));
  }
}

TEST(InitialWeights, DifferBetweenTensorsAndSeeds) {
  const ParameterLayout layout = gpt_layout(micro());
  const int a = layout.tensor_named("h.0.mlp.c_fc.weight");
  const int b = layout.tensor_named("h.1.mlp.c_fc.weight");
  const std::vector<float> values = read(InitialWeights(layout, 5), a, {0, 100});
  EXPECT_NE(values, read(InitialWeights(layout, 5), b, {0, 100}));
  EXPECT_NE(values, read(InitialWeights(layout, 6), a, {0, 100}));
  EXPECT_NE(values, read(InitialWeights(layout, 5 + (std::uint64_t{1} << 32U)), a, {0, 100}));
}

TEST(InitialWeights, HaveTheLayoutsDeviationAndNoMean) {
  const ParameterLayout layout = gpt_layout(micro());
  const std::vector<float> values =
      read(InitialWeights(layout, 5), layout.tensor_named("wte.weight"), {0, 8192});
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  const double square = std::inner_product(values.begin(), values.end(), values.begin(), 0.0) / n;
  EXPECT_NEAR(mean, 0, 4 * 0.02 / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(square), 0.02, 0.02 * 4 / std::sqrt(2 * n));
}

TEST(InitialWeights, AreOnesForNormsAndZerosForBiases) {
  const ParameterLayout layout = gpt_layout(micro());
  const InitialWeights source(layout, 5);
  EXPECT_THAT(read(source, layout.tensor_named("ln_f.weight"), {1, 32}), testing::Each(1.0F));
  EXPECT_THAT(read(source, layout.tensor_named("h.0.mlp.c_fc.bias"), {0, 128}),
              testing::Each(0.0F));
}

class WeightFiles : public testing::Test {
 protected:
  using Entries = std::vector<SafetensorsEntry>;

  /// The entries of a file of the model, to be changed by a test.
  Entries entries(const std::string& prefix = "") const {
    Entries result;
    for (const TensorSpec& tensor : layout_.tensors()) {
      result.push_back({prefix + tensor.name, "F32", tensor.shape, {}});
    }
    return result;
  }

  /// Element i of every tensor is i + the tensor's name length.
  void write(const Entries& tensors) const {
    SafetensorsWriter writer(path_, tensors, {});
    for (const SafetensorsEntry& tensor : tensors) {
      const std::int64_t bytes = safetensors_bytes(tensor);
      std::vector<float> values(static_cast<std::size_t>(bytes / 4));
      std::iota(values.begin(), values.end(), 1.0F);
      writer.write(tensor.name, {0, bytes}, values.data());
    }
    writer.finish();
  }

  void expect_refused(const Entries& tensors, const std::string& message) const {
    write(tensors);
    EXPECT_THAT(
        [&] { WeightsFile(layout_, path_); },
        ThrowsMessage<BadInput>(testing::AllOf(HasSubstr("[weights]"), HasSubstr(message))));
  }

  TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_ / "w.safetensors";
  const ParameterLayout layout_ = gpt_layout(micro());
};

TEST_F(WeightFiles, ReturnToTheBitWhatWasWrittenInSlices) {
  const InitialWeights source(layout_, 11);
  WeightsWriter writer(layout_, path_);
  for (int tensor = static_cast<int>(layout_.tensors().size()) - 1; tensor >= 0; --tensor) {
    const std::int64_t count = layout_.tensor(tensor).count(), cut = count / 3;
    for (const Range part : {Range{cut, count}, Range{0, cut}}) {
      writer.write(tensor, part, read(source, tensor, part).data());
    }
  }
  writer.finish();

  const WeightsFile file(layout_, path_);
  for (int tensor = 0; tensor < static_cast<int>(layout_.tensors().size()); ++tensor) {
    const Range all{0, layout_.tensor(tensor).count()};
    EXPECT_EQ(read(file, tensor, all), read(source, tensor, all)) << layout_.tensor(tensor).name;
  }
  EXPECT_EQ(SafetensorsFile(path_).metadata().at("format"), "pt");
}

TEST_F(WeightFiles, ServeAnyPartOfATensor) {
  write(entries());
  const WeightsFile file(layout_, path_);
  EXPECT_THAT(read(file, layout_.tensor_named("h.0.ln_2.bias"), {5, 8}),
              testing::ElementsAre(6, 7, 8));
}

TEST_F(WeightFiles, MayCarryThePrefixTheMasksAndATiedHead) {
  Entries tensors = entries("transformer.");
  tensors.push_back({"transformer.h.0.attn.bias", "F32", {1, 1, 16, 16}, {}});
  tensors.push_back({"transformer.h.0.attn.masked_bias", "F32", {}, {}});
  tensors.push_back({"lm_head.weight", "F32", {256, 32}, {}});
  write(tensors);
  const WeightsFile file(layout_, path_);
  EXPECT_THAT(read(file, layout_.tensor_named("wte.weight"), {0, 2}), testing::ElementsAre(1, 2));
}

TEST_F(WeightFiles, WithAHeadOfItsOwnAreRefused) {
  Entries tensors = entries();
  tensors.push_back({"lm_head.weight", "F32", {256, 16}, {}});
  expect_refused(tensors, "'lm_head.weight' differs from wte.weight");
}

TEST_F(WeightFiles, WithoutATensorAreRefusedByItsName) {
  Entries tensors = entries();
  tensors.erase(tensors.begin() + 5);
  expect_refused(tensors, "lacks '" + layout_.tensor(5).name + "'");
}

TEST_F(WeightFiles, WithAStrangerAreRefused) {
  Entries tensors = entries();
  tensors.push_back({"h.0.ln_3.weight", "F32", {32}, {}});
  expect_refused(tensors,
                 "has 'h.0.ln_3.weight', which the model does not; the nearest name is "
                 "'h.0.ln_1.weight'");
}

TEST_F(WeightFiles, WithATensorTwiceAreRefused) {
  Entries tensors = entries();
  tensors.push_back({"transformer.ln_f.bias", "F32", {32}, {}});
  expect_refused(tensors, "has both 'ln_f.bias' and 'transformer.ln_f.bias'");
}

TEST_F(WeightFiles, OfAnotherShapeAreRefused) {
  Entries tensors = entries();
  const auto transposed = std::find_if(tensors.begin(), tensors.end(), [](const auto& tensor) {
    return tensor.name == "h.1.mlp.c_fc.weight";
  });
  transposed->shape = {128, 32};
  expect_refused(tensors,
                 "'h.1.mlp.c_fc.weight' has the shape (128, 32); the model's is (32, 128)");
}

TEST_F(WeightFiles, OfAnotherDtypeAreRefused) {
  Entries tensors = entries();
  tensors.front().dtype = "I32";
  expect_refused(tensors, "is I32; only F32 is read");
}

}  // namespace
}  // namespace zerolab
