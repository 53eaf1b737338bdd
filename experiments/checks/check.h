/// \file
/// A check watches one rank of one stage while it trains and reports what is wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/checks/finding.h"
#include "experiments/config/run_config.h"
#include "stages/comm/communicator.h"
#include "stages/comm/world.h"
#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/model/model.h"
#include "stages/train/step_record.h"

namespace zerolab {

struct RankResult;

/// What a check may use. Everything lives as long as the rank's run.
struct CheckContext {
  RankContext& ranks;
  Device& device;
  Stream& compute;
  Communicator& comm;  ///< tag its calls Traffic::kChecks
  Kernels& kernels;
  const Model& model;
  const RunConfig& config;
  std::string stage;  ///< "zero2"
  AccumulationOrder order = AccumulationOrder::kReduced;
};

/// All ranks create the same checks in the same order. Memory is Category::kChecks.
class Check : public TrainObserver {
 public:
  virtual std::string_view name() const = 0;
  /// A probe between the training loop and `inner`, or nullptr. Called once, before `started`.
  virtual std::unique_ptr<Stage> probe(Stage& /*inner*/) { return nullptr; }
  /// After the last step; collective calls are allowed, all ranks make them.
  virtual std::vector<Finding> findings() = 0;
  /// Adds what else it recorded (fingerprints) to this rank's result, after `findings`.
  virtual void contribute(RankResult& /*result*/) {}
};

}  // namespace zerolab
