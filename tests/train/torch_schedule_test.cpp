// The schedules that PyTorch has too, against PyTorch.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "stages/train/schedule.h"
#include "tests/tools/temporary_directory.h"

namespace zerolab {
namespace {

constexpr int kExitWithoutTorch = 77;

nlohmann::json recorded(const Schedule& schedule) {
  nlohmann::json record = {{"peak", schedule.peak},
                           {"warmup_steps", schedule.warmup_steps},
                           {"warmup_from", schedule.warmup_from},
                           {"total_steps", schedule.total_steps},
                           {"decay", name_of(schedule.decay)},
                           {"final_fraction", schedule.final_fraction}};
  for (std::int64_t step = 1; step <= schedule.total_steps; ++step) {
    record["rates"].push_back(schedule.learning_rate(step));
  }
  return record;
}

TEST(TorchSchedules, HaveTheSameRates) {
  const TemporaryDirectory directory;
  nlohmann::json schedules;
  for (const Decay decay : {Decay::kConstant, Decay::kLinear, Decay::kCosine}) {
    for (const double from : {0.0, 2e-4}) {
      schedules.push_back(recorded({.peak = 3e-3,
                                    .warmup_steps = 7,
                                    .total_steps = 40,
                                    .final_fraction = 0.1,
                                    .decay = decay,
                                    .warmup_from = from}));
    }
  }
  std::ofstream(directory / "schedules.json") << schedules;

  const int status = std::system(("/usr/bin/python3 " ZEROLAB_SOURCE_DIR
                                  "/tests/tools/schedules_against_torch.py " +
                                  (directory / "schedules.json").string())
                                     .c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == kExitWithoutTorch || code == 127) GTEST_SKIP() << "there is no PyTorch";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace zerolab
