// The same under mpirun, where bytes travel as messages and received terms wait in staging. Every
// process runs every test, in step, and judges the results of all ranks; rank 0 prints.
#include <memory>

#include "tests/predict/measured_run.h"

namespace zerolab {
namespace {

// Left to main to destroy: MPI must be finalised before the process ends.
std::unique_ptr<World>& the_world() {
  static std::unique_ptr<World> world = make_mpi_world();
  return world;
}

RunConfig messages_run(int accumulate) {
  RunConfig config = test::short_run(the_world()->world_size(), accumulate);
  config.comm = "mpi";
  return config;
}

class MeasuredOverMessages : public testing::TestWithParam<std::string> {};

TEST_P(MeasuredOverMessages, BytesArePredictedInEveryOrderOfReduction) {
  const int ranks = the_world()->world_size();
  for (const Reduction reduction : {Reduction::kOrdered, Reduction::kRing, Reduction::kTree}) {
    if (reduction == Reduction::kTree && (ranks & (ranks - 1)) != 0) continue;
    RunConfig config = messages_run(3);
    config.reduction = reduction;
    config.ranks_per_node = 2;
    test::expect_predicted(GetParam(), config, *the_world());
  }
}

TEST_P(MeasuredOverMessages, BytesArePredictedWithAndWithoutOverlap) {
  for (const bool overlap : {true, false}) {
    RunConfig config = messages_run(1);
    config.overlap = overlap;
    config.bucket_mb = 0.0171;
    test::expect_predicted(GetParam(), config, *the_world());
  }
}

TEST_P(MeasuredOverMessages, BytesArePredictedForOptimizersThatLookAtWholeTensors) {
  for (const char* optimizer : {"lamb", "muon"}) {
    RunConfig config = messages_run(1);
    config.optimizer.name = optimizer;
    test::expect_predicted(GetParam(), config, *the_world());
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, MeasuredOverMessages, testing::ValuesIn(stage_names()),
                         [](const auto& stage) { return stage.param; });

int run_tests() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (the_world()->local_rank() != 0) delete listeners.Release(listeners.default_result_printer());
  const int failed = RUN_ALL_TESTS();
  the_world().reset();
  return failed;
}

}  // namespace
}  // namespace zerolab

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return zerolab::run_tests();
}
