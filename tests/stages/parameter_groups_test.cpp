// LAMB with the norms of shards is another optimizer for every cut. Parameter groups: tensors keep
// their rate and decay in flat shards.
#include "experiments/config/parameter_groups.h"
#include "tests/stages/training_run.h"

namespace zerolab {
namespace {

RunConfig layerwise_config(const std::string& optimizer, const std::string& model, int ranks) {
  RunConfig config = test_config(ranks, 1);
  config.model = model;
  config.steps = 2;
  config.optimizer.name = optimizer;
  config.learning_rate = 0.02;
  return config;
}

TEST(LambNormsOfShards, are_predicted_and_leave_ddp_at_the_first_parameters) {
  RunConfig config = layerwise_config("lamb", "gpt-micro", 3);
  const StageResult reference = train("ddp", config);
  config.optimizer.lamb_norms = LambNorms::kShard;
  const StageResult zero3 = train("zero3", config);
  expect_predicted_bytes(zero3, config);
  EXPECT_EQ(reference.steps()[0].loss, zero3.steps()[0].loss);
  EXPECT_NE(reference.fingerprints().back().values, zero3.fingerprints().back().values);
  expect_equal_bits(reference, train("ddp", config));
}

TEST(ParameterGroups, keep_the_bits_of_ddp_in_every_stage) {
  for (const std::string optimizer : {"adamw", "muon"}) {
    RunConfig config = layerwise_config(optimizer, "gpt-micro", 3);
    const StageResult ungrouped = train("ddp", config);
    config.groups = {"*.bias:decay=0.3", "h.0.*:lr=0.5", "wte.*:lr=2,decay=0"};
    const StageResult reference = train("ddp", config);
    EXPECT_NE(ungrouped.fingerprints().back().values, reference.fingerprints().back().values);
    for (const std::string& stage : stage_names()) {
      expect_equal_bits(reference, train(stage, config));
    }
  }
}

TEST(ParameterGroups, that_repeat_the_defaults_change_no_bit) {
  RunConfig config = layerwise_config("adamw", "gpt-micro", 2);
  const StageResult ungrouped = train("zero3", config);
  config.groups = {"h.*.weight:lr=1", "*.bias:decay=0"};
  expect_equal_bits(ungrouped, train("zero3", config));
}

TEST(GroupedLayout, puts_each_tensor_into_the_first_group_that_matches) {
  const ParameterLayout layout =
      grouped(layout_of(parse_model("gpt-micro")), {"h.1.*:lr=2", "*.weight:decay=0.5"});
  const auto group = [&](const char* name) {
    return layout.tensor(layout.tensor_named(name)).group;
  };
  const auto rules = group_rules({"h.1.*:lr=2", "*.weight:decay=0.5"}, 0.1F);
  const auto rule = [&](const char* name) {
    return rules.at(static_cast<std::size_t>(group(name) - kFirstOwnGroup));
  };
  EXPECT_EQ(rule("h.1.attn.c_attn.weight").rate, 2.0F);
  EXPECT_EQ(rule("h.1.attn.c_attn.weight").weight_decay, 0.1F);  // its own, as no decay is given
  EXPECT_EQ(rule("h.1.ln_1.weight").weight_decay, 0.0F);
  EXPECT_EQ(rule("h.0.ln_1.weight").rate, 1.0F);
  EXPECT_EQ(rule("h.0.ln_1.weight").weight_decay, 0.5F);
  EXPECT_EQ(group("h.0.ln_1.bias"), kPlainGroup);
}

}  // namespace
}  // namespace zerolab
