// ZeRO-2 and ZeRO-3 driven through visits that no model of ours makes: units that complete out of
// turn, several times used, or not at all. Bytes held and sent must still be the formula's.
#include <gtest/gtest.h>

#include <random>

#include "experiments/predict/stage_prediction.h"
#include "experiments/runner/stage_factory.h"
#include "stages/comm/world.h"
#include "stages/device/cpu/cpu_device.h"
#include "stages/kernels/cpu/cpu_kernels.h"
#include "tests/predict/small_setting.h"

namespace zerolab {
namespace {

/// Some units forward, in any order; backward some of them, each completing at its last use. The
/// last use may read nothing.
std::vector<Use> random_uses(std::mt19937& random) {
  const auto draw = [&](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  std::vector<Use> uses;
  for (int i = 2 + draw(4); i > 0; --i) uses.push_back({.unit = draw(3)});
  const std::size_t forward = uses.size();
  for (int i = 1 + draw(5); i > 0; --i) uses.push_back({draw(3), Phase::kBackward, true, true});
  for (std::size_t i = forward; i < uses.size(); ++i) {
    for (std::size_t j = i + 1; j < uses.size(); ++j) {
      if (uses[j].unit == uses[i].unit) uses[i].completes_gradient = false;
    }
  }
  uses.back().reads_parameters = draw(2) == 0;
  return uses;
}

std::string described(const std::vector<Use>& uses) {
  std::string text;
  for (const Use& use : uses) {
    text +=
        fmt::format("{}{}{}{} ", use.phase == Phase::kForward ? "F" : "B", use.unit,
                    use.reads_parameters ? "" : " blind", use.completes_gradient ? " done" : "");
  }
  return text;
}

struct Measured {
  CategoryBytes peak{};
  std::int64_t peak_bytes = 0;
  CommLedger::Table volume{};
};

/// Two micro-batches and a step on each rank. The clipper's own bytes are not counted.
std::vector<Measured> drive(const std::string& stage_name, const Setting& setting) {
  std::vector<Measured> measured(static_cast<std::size_t>(setting.ranks()));
  const auto world = make_thread_world(setting.ranks());
  world->run([&](RankContext& ranks) {
    const auto kernels = make_cpu_kernels(1);
    const auto device = make_cpu_device();
    const auto compute = device->create_stream("compute");
    const auto second = setting.overlap ? device->create_stream("communication") : nullptr;
    const auto comm = ranks.create_communicator(*device, second ? *second : *compute, {});
    Clipper clipper(*device, *compute, *comm, *kernels, 1.0, setting.layout.parameter_count());
    RandomParameters initial(setting.layout, *kernels, 1);
    const std::int64_t around = device->ledger().peak_total();
    const auto stage = stage_factory(stage_name)({*device,
                                                  *compute,
                                                  *comm,
                                                  *kernels,
                                                  setting.layout,
                                                  initial,
                                                  clipper,
                                                  {setting.overlap,
                                                   setting.bucket_elements,
                                                   setting.micro_batches,
                                                   AccumulationShape::kRunning,
                                                   {},
                                                   {}}});
    for (int m = 0; m < setting.micro_batches; ++m) {
      stage->begin({m, setting.micro_batches, true, setting.uses.training});
      for (const Use& use : setting.uses.training) {
        stage->acquire(use);
        if (use.phase == Phase::kBackward) stage->gradients(use);
        if (use.completes_gradient) stage->gradients_ready(use);
        stage->release(use);
      }
    }
    stage->step({1, 0.1F, 1.0});
    comm->stream().synchronize();
    compute->synchronize();
    Measured& mine = measured[static_cast<std::size_t>(ranks.rank())];
    mine.peak = device->ledger().peak();
    mine.peak_bytes = device->ledger().peak_total() - around;
    mine.volume = comm->ledger().totals();
  });
  return measured;
}

void expect_predicted(const StagePrediction& predicted, const Measured& measured) {
  CategoryBytes peak = predicted.lasting;
  std::int64_t peak_bytes = 0;
  for (const Moment& moment : predicted.training) {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < peak.size(); ++i) {
      const std::int64_t bytes = predicted.lasting[i] + moment.bytes[i];
      peak[i] = std::max(peak[i], bytes);
      total += bytes;
    }
    peak_bytes = std::max(peak_bytes, total);
  }
  for (std::size_t i = 0; i < peak.size(); ++i) {
    const auto category = static_cast<Category>(i);
    if (category == Category::kWorkspace) continue;
    EXPECT_EQ(peak[i], measured.peak[i]) << name_of(category);
  }
  EXPECT_EQ(peak_bytes, measured.peak_bytes);
  for (std::size_t op = 0; op < kCollectiveOpCount; ++op) {
    constexpr auto kTraining = static_cast<std::size_t>(Traffic::kTraining);
    EXPECT_EQ(predicted.per_step[kTraining][op], measured.volume[kTraining][op])
        << name_of(static_cast<CollectiveOp>(op));
  }
}

class OddUses : public testing::TestWithParam<std::string> {};

TEST_P(OddUses, HoldAndSendWhatTheFormulaSays) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    Setting setting = test::accumulating(test::small_setting(1 + trial % 3, 0), 2);
    setting.overlap = trial % 2 == 0;
    setting.bucket_elements = trial % 5 * 50 + 1;
    setting.uses.training = random_uses(random);
    SCOPED_TRACE(fmt::format("{} ranks, overlap {}, buckets of {}: {}", setting.ranks(),
                             setting.overlap, setting.bucket_elements,
                             described(setting.uses.training)));

    const std::vector<Measured> measured = drive(GetParam(), setting);

    for (int rank = 0; rank < setting.ranks(); ++rank) {
      setting.rank = rank;
      expect_predicted(GetParam() == "zero2" ? predict_zero2(setting) : predict_zero3(setting),
                       measured[static_cast<std::size_t>(rank)]);
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, OddUses, testing::Values("zero2", "zero3"),
                         [](const auto& stage) { return stage.param; });

}  // namespace
}  // namespace zerolab
