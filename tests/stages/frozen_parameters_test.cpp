// Tensors that are not trained: they keep their values, have no gradient and no state, and every
// stage still has the bits of DDP, and holds and sends what was predicted.
#include "experiments/checks/volume_check.h"
#include "tests/stages/training_run.h"

namespace zerolab {
namespace {

/// What is frozen, and the model it belongs to.
struct Frozen {
  const char* name;
  const char* model;
  std::vector<std::string> patterns;
};

const std::vector<Frozen>& examples() {
  static const std::vector<Frozen> all = {
      {"biases", "gpt-micro", {"*.bias"}},
      {"half_of_the_tied_embedding", "gpt-micro", {"wte.*"}},
      {"whole_embedding", "gpt-micro", {"w?e.*"}},
      {"embedding_and_first_block", "gpt-micro", {"w?e.*", "h.0.*"}},
      {"block_in_the_middle", "gpt-micro", {"h.1.*"}},
      {"all_but_one_norm", "gpt-micro", {"w?e.*", "h.*"}},
      {"all_matrices", "gpt-micro", {"*.c_*.weight", "w?e.*"}},
      {"tied_layer", "tied-mlp", {"layers.0.*"}},
      {"weight_of_the_tied_layer", "tied-mlp", {"layers.0.weight", "layers.5.*"}},
  };
  return all;
}

class FrozenTensors : public testing::TestWithParam<Frozen> {};

TEST_P(FrozenTensors, keep_the_bits_of_ddp_and_the_prediction_in_every_stage) {
  const Frozen& frozen = GetParam();
  int runs = 0;
  for (const int ranks : {1, 3, 4}) {
    if (kSanitized && ranks != 3) continue;
    RunConfig config = test_config(ranks, ranks == 3 ? 3 : 1);
    config.model = frozen.model;
    config.frozen = frozen.patterns;
    config.precision = ranks == 4 ? "bf16" : "fp32";
    const std::string checkpoints = frozen.model;
    if (ranks == 4 && checkpoints == "gpt-micro") config.checkpoint_every = 2;
    const StageResult reference = train("ddp", config);
    config.overlap = ranks == 4;
    for (const std::string& stage : stage_names()) {
      config.overlap = !config.overlap;
      SCOPED_TRACE(fmt::format("{} on {} ranks", stage, ranks));
      const StageResult result = train(stage, config);
      expect_equal_bits(reference, result);
      expect_predicted_bytes(result, config);
      for (const Finding& finding : check_collectives(result)) ADD_FAILURE() << finding.message;
      ++runs;
    }
  }
  EXPECT_EQ(runs, kSanitized ? 4 : 12);
}
INSTANTIATE_TEST_SUITE_P(Examples, FrozenTensors, testing::ValuesIn(examples()),
                         [](const auto& example) { return example.param.name; });

TEST(FrozenTensors, keep_their_values_and_the_others_learn) {
  RunConfig config = test_config(2, 1);
  config.frozen = {"h.1.*", "wpe.*"};
  const ParameterLayout layout = layout_of(model_of(config));
  for (const std::string& stage : stage_names()) {
    const auto prints = train(stage, config).fingerprints();
    ASSERT_GE(prints.size(), 2U);
    ASSERT_EQ(prints.front().step, 0);  // before training
    const auto& first = prints.front().values[1];
    const auto& last = prints.back().values[1];
    ASSERT_EQ(last.size(), layout.tensors().size());
    for (std::size_t t = 0; t < last.size(); ++t) {
      const TensorSpec& tensor = layout.tensor(static_cast<int>(t));
      EXPECT_EQ(first[t] == last[t], tensor.frozen) << tensor.name << " in " << stage;
      EXPECT_EQ(prints.back().values[0][t] == 0, tensor.frozen)
          << "gradient of " << tensor.name << " in " << stage;
    }
  }
}

TEST(FrozenTensors, change_no_gradient_of_the_first_step) {
  RunConfig config = test_config(2, 1);
  config.clip = 0;
  const auto all = train("zero3", config).fingerprints();
  config.frozen = {"h.0.*", "wte.*", "*.ln_2.bias"};
  const auto some = train("zero3", config).fingerprints();
  const ParameterLayout layout = layout_of(model_of(config));
  ASSERT_EQ(all.at(1).step, 1);
  ASSERT_EQ(some.at(1).step, 1);
  for (std::size_t t = 0; t < layout.tensors().size(); ++t) {
    const TensorSpec& tensor = layout.tensor(static_cast<int>(t));
    if (tensor.frozen) continue;
    EXPECT_EQ(all[1].values[0][t], some[1].values[0][t]) << tensor.name;
  }
}

TEST(FrozenTensors, are_left_alone_by_layer_wise_optimizers_and_bypassed_blocks) {
  for (const std::string optimizer : {"lamb", "muon", "sgd"}) {
    RunConfig config = test_config(3, 2);
    config.optimizer.name = optimizer;
    config.learning_rate = 0.02;
    config.skip_block_every = 2;
    config.frozen = {"*.c_attn.weight", "wpe.*", "h.0.mlp.*"};
    const StageResult reference = train("ddp", config);
    for (const std::string& stage : stage_names()) {
      SCOPED_TRACE(fmt::format("{} with {}", stage, optimizer));
      const StageResult result = train(stage, config);
      expect_equal_bits(reference, result);
      expect_predicted_bytes(result, config);
    }
  }
}

TEST(FrozenTensors, cost_no_gradient_and_no_state) {
  RunConfig config = test_config(4, 1);
  const ModelSpec whole = model_of(config);
  const Prediction before = predict("zero1", config, whole, 0);
  config.frozen = {"h.*"};
  const Prediction after = predict("zero1", config, model_of(config), 0);
  const auto bytes = [](const Prediction& p, Category category) {
    return p.at_peak[static_cast<std::size_t>(category)];
  };
  const std::int64_t left = layout_of(model_of(config)).trained_count();
  EXPECT_LT(left, layout_of(whole).parameter_count() / 2);
  // Up to the padding to 32 elements a rank.
  EXPECT_NEAR(static_cast<double>(bytes(after, Category::kParameters)),
              static_cast<double>(bytes(before, Category::kParameters)), 4.0 * 32 * 4);
  EXPECT_NEAR(static_cast<double>(bytes(after, Category::kGradients)),
              4.0 * static_cast<double>(left), 4.0 * 32 * 4);
  EXPECT_LT(bytes(after, Category::kFirstMoments), bytes(before, Category::kFirstMoments) / 2);
}

}  // namespace
}  // namespace zerolab
