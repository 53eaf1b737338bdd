/// \file
/// A check watches one rank of one stage while it trains and reports what is wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/run_config.h"
#include "stages/comm/communicator.h"
#include "stages/comm/world.h"
#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/model/model.h"
#include "stages/train/step_record.h"

namespace zerolab {

/// Something that a check found wrong, and where. Fields that do not apply are -1 or empty.
struct Finding {
  std::string check;    ///< "INV"
  std::int64_t step = -1;
  std::string phase;    ///< "gradients", "parameters", "optimizer_state", "norm", "collective", …
  std::string tensor;
  int rank = -1;
  std::int64_t element = -1;  ///< canonical element of the tensor
  std::optional<double> expected, value;
  std::int64_t ulp = -1;
  std::string message;  ///< one sentence
};

/// What a check may use. Everything lives as long as the rank's run.
struct CheckContext {
  RankContext& ranks;
  Device& device;
  Stream& compute;
  Communicator& comm;  ///< tag its calls Traffic::kChecks
  Kernels& kernels;
  const Model& model;
  const RunConfig& config;
  std::string stage;   ///< "zero2"
};

/// All ranks create the same checks in the same order. Memory is Category::kChecks.
class Check : public TrainObserver {
 public:
  virtual std::string_view name() const = 0;
  /// A probe between the training loop and `inner`, or nullptr. Called once, before `started`.
  virtual std::unique_ptr<Stage> probe(Stage& /*inner*/) { return nullptr; }
  /// After the last step; collective calls are allowed, all ranks make them.
  virtual std::vector<Finding> findings() = 0;
};

}  // namespace zerolab
