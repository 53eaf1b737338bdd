// LAMB and Muon look at whole tensors: the result must not depend on who holds which part, and must
// be what PyTorch computes.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/temporary_directory.h"
#include "tests/train/optimizer_run.h"

namespace zerolab {
namespace {

using test::Cut;
using test::OptimizerRun;
using test::run_optimizer;

OptimizerSettings named(const std::string& name) {
  OptimizerSettings settings;
  settings.name = name;
  settings.adamw_rate = 0.125F;
  return settings;
}

class LayerwiseOptimizer : public testing::TestWithParam<std::string> {};

TEST_P(LayerwiseOptimizer, GivesTheSameBitsHoweverTensorsAreCut) {
  const ParameterLayout layout = test::small_network();
  const test::Tensors whole = run_optimizer(layout, {named(GetParam())});
  EXPECT_NE(whole, test::starting_values(layout));
  for (const int ranks : {1, 2, 3, 8}) {
    for (const Cut cut : {Cut::kNone, Cut::kByBucket, Cut::kByUnit}) {
      for (const bool overlap : {true, false}) {
        EXPECT_EQ(run_optimizer(layout, {named(GetParam()), ranks, cut, overlap}), whole)
            << ranks << " ranks, cut " << static_cast<int>(cut) << ", overlap " << overlap;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LayerwiseOptimizer, testing::Values("lamb", "muon"),
                         [](const auto& optimizer) { return optimizer.param; });

/// What PyTorch needs to repeat a run, and where the run ended.
void write_run(const OptimizerRun& run, const std::filesystem::path& file) {
  const ParameterLayout layout = test::small_network();
  const test::Tensors result = run_optimizer(layout, run);
  const test::Tensors start = test::starting_values(layout);
  nlohmann::json exchange = {{"optimizer", run.settings.name},
                             {"lr", run.learning_rate},
                             {"adamw_rate", run.settings.adamw_rate},
                             {"betas", {run.settings.beta1, run.settings.beta2}},
                             {"epsilon", run.settings.epsilon},
                             {"momentum", run.settings.muon_momentum},
                             {"weight_decay", run.settings.weight_decay},
                             {"factor", run.factor}};
  for (std::size_t t = 0; t < start.size(); ++t) {
    const TensorSpec& tensor = layout.tensor(static_cast<int>(t));
    nlohmann::json gradients;
    for (std::int64_t step = 1; step <= run.steps; ++step) {
      gradients.push_back(test::gradients_of_step(layout, step)[t]);
    }
    exchange["tensors"].push_back({{"name", tensor.name},
                                   {"shape", tensor.shape},
                                   {"hidden", tensor.hidden},
                                   {"decay", tensor.decay},
                                   {"start", start[t]},
                                   {"gradients", gradients},
                                   {"result", result[t]}});
  }
  std::ofstream(file) << exchange;
}

TEST(LayerwiseOptimizers, AgreeWithPyTorch) {
  const TemporaryDirectory directory;
  std::string command =
      fmt::format("/usr/bin/python3 {}/tests/tools/layerwise_optimizers.py", ZEROLAB_SOURCE_DIR);
  for (const char* name : {"lamb", "muon"}) {
    const auto file = directory / fmt::format("{}.json", name);
    write_run({named(name), 3, Cut::kByUnit}, file);
    command += " " + file.string();
  }

  const int status = std::system(command.c_str());

  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 77) GTEST_SKIP() << "/usr/bin/python3 has no torch; install python3-torch";
  EXPECT_EQ(code, 0);
}

TEST(Lamb, WithNormsOfShardsIsAnotherOptimizerForEveryCut) {
  const ParameterLayout layout = test::small_network();
  OptimizerSettings settings = named("lamb");
  const test::Tensors whole = run_optimizer(layout, {settings});
  settings.lamb_norms = LambNorms::kShard;
  EXPECT_EQ(run_optimizer(layout, {settings, 3, Cut::kNone}), whole);
  EXPECT_EQ(run_optimizer(layout, {settings, 1, Cut::kByUnit}), whole);
  const test::Tensors three = run_optimizer(layout, {settings, 3, Cut::kByUnit});
  EXPECT_NE(three, whole);
  EXPECT_NE(run_optimizer(layout, {settings, 2, Cut::kByUnit}), three);
}

TEST(ParameterGroups, HaveARateAndADecayOfTheirOwnHoweverTensorsAreCut) {
  // One step of SGD from p with gradient g·factor: p − lr·rate·(g·factor + decay·p).
  ParameterLayout layout = test::small_network();
  layout.set_group(layout.tensor_named("h.0.square"), kFirstOwnGroup);
  OptimizerRun run{named("sgd"), 3, Cut::kByUnit};
  run.steps = 1;
  run.settings.groups = {{0.25F, 0.5F}};
  const test::Tensors result = run_optimizer(layout, run);
  const test::Tensors p = test::starting_values(layout), g = test::gradients_of_step(layout, 1);
  for (std::size_t t = 0; t < p.size(); ++t) {
    const TensorSpec& tensor = layout.tensor(static_cast<int>(t));
    const bool own = tensor.name == "h.0.square";
    const float rate = own ? 0.25F : 1.0F, decay = own ? 0.5F : tensor.decay ? 0.1F : 0.0F;
    for (std::size_t i = 0; i < p[t].size(); ++i) {
      const float expected = p[t][i] - 0.05F * rate * (g[t][i] * 0.5F + decay * p[t][i]);
      ASSERT_NEAR(result[t][i], expected, 1e-6F) << tensor.name << " element " << i;
    }
  }
}

}  // namespace
}  // namespace zerolab
