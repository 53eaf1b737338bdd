#include <gtest/gtest.h>

#include "stages/device/cpu/cpu_device.h"
#include "stages/kernels/cpu/cpu_kernels.h"
#include "stages/model/activation_formula.h"
#include "stages/model/model_factory.h"

namespace zerolab {
namespace {

struct Case {
  ModelSpec spec;
  std::int64_t batch, time;
  int checkpoint_every = 0;
};

std::vector<Case> cases() {
  ModelSpec odd = parse_model("gpt-micro");
  odd.config = GptConfig{3, 21, 7, 13, 101};
  return {{parse_model("gpt-micro"), 1, 1},
          {parse_model("gpt-micro"), 3, 11},
          {parse_model("gpt-tiny"), 2, 128},
          {odd, 5, 13},
          {odd, 5, 13, 1},
          {odd, 5, 13, 2},
          {odd, 5, 13, 3},
          {odd, 5, 13, 4},
          {parse_model("tied-mlp"), 3, 1}};
}

TEST(ActivationFormula, EqualsTheBytesThatTheModelAllocates) {
  for (const Case& c : cases()) {
    const std::unique_ptr<Device> device = make_cpu_device();
    const std::unique_ptr<Kernels> kernels = make_cpu_kernels(1);
    const std::unique_ptr<Stream> compute = device->create_stream("compute");

    const auto model = make_model(c.spec, *device, *compute, *kernels, c.batch, c.time,
                                  {.checkpoint_every = c.checkpoint_every});

    const ModelBytes predicted =
        model_bytes(c.spec, *kernels, c.batch, c.time, {.checkpoint_every = c.checkpoint_every});
    EXPECT_EQ(device->ledger().held(Category::kActivations), predicted.activations) << c.spec.name;
    EXPECT_EQ(device->ledger().held(Category::kWorkspace), predicted.workspace) << c.spec.name;
    EXPECT_GT(predicted.activations, 0);
  }
}

TEST(ActivationFormula, CountsWhatABlockKeepsByHand) {
  // L1 C2 V3, B1 T1, no saved attention: 4 · (16·2 + 4 + 2·2 + 2 + 3) bytes.
  EXPECT_EQ(gpt_activation_bytes({1, 2, 1, 1, 3}, 1, 1, 0, 4), 4 * 45);
  EXPECT_EQ(gpt_workspace_bytes({1, 2, 1, 1, 3}, 1, 1, 4), 4 * 12 + 8);
}

TEST(ActivationFormula, KeepsOneSetOfBlocksAndTheEndsOfSegments) {
  // L3 C2, one block and three residual streams: 4 · (1·(16·2 + 4) + (3 − 1)·2 + 2·2 + 2 + 3).
  EXPECT_EQ(gpt_activation_bytes({3, 2, 1, 1, 3}, 1, 1, 0, 4, 1), 4 * 49);
  // One segment of all blocks keeps what keeping all does.
  EXPECT_EQ(gpt_activation_bytes({3, 2, 1, 1, 3}, 1, 1, 5, 4, 3),
            gpt_activation_bytes({3, 2, 1, 1, 3}, 1, 1, 5, 4));
}

TEST(ActivationFormula, IsAllThatAModelHolds) {
  const std::unique_ptr<Device> device = make_cpu_device();
  const std::unique_ptr<Kernels> kernels = make_cpu_kernels(1);
  const std::unique_ptr<Stream> compute = device->create_stream("compute");
  {
    const auto model = make_model(parse_model("gpt-micro"), *device, *compute, *kernels, 2, 3);
    EXPECT_GT(device->ledger().held(Category::kActivations), 0);
  }
  for (const std::int64_t bytes : device->ledger().held()) EXPECT_EQ(bytes, 0);
}

}  // namespace
}  // namespace zerolab
