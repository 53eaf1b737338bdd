/// \file
/// A publicly reported bug, recreated by exchanging one of the parts that a stage is built from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiments/runner/stage_factory.h"
#include "stages/comm/communicator.h"
#include "stages/device/device.h"
#include "stages/kernels/kernels.h"
#include "stages/optim/clipper.h"
#include "stages/train/loss_weighting.h"

namespace zerolab {

/// What one detector must say about a fault.
struct ExpectedFinding {
  std::string check;             ///< "INV"
  bool needs_reference = false;  ///< compares with a clean run
  std::int64_t step = -1;        ///< of its first finding; -1: any
  std::string phase;             ///< of its first finding; empty: any
  std::string names;             ///< part of that finding's message: what is wrong
};

/// What the museum's label says.
struct FaultLabel {
  std::string name;      ///< "discard-reduced"
  std::string source;    ///< "DeepSpeed #966"
  std::string stage;     ///< where it shows; other stages of a comparison stay clean
  std::string happened;  ///< one sentence: what the code does wrong
  std::string seen;      ///< one sentence: what users saw
  std::vector<ExpectedFinding> must_fire;
  std::vector<std::string> needs;  ///< options without which it does not act: "--clip 0.5"
  bool visible_in_loss = false;

  /// The checks that must fire.
  std::vector<std::string> detectors() const {
    std::vector<std::string> names;
    for (const ExpectedFinding& expected : must_fire) names.push_back(expected.check);
    return names;
  }
};

/// Each hook exchanges one part on one rank; the default hands it back unchanged. The stage files
/// themselves stay clean.
class Fault {
 public:
  virtual ~Fault() = default;
  virtual const FaultLabel& label() const = 0;

  virtual std::unique_ptr<Device> device(std::unique_ptr<Device> clean, int /*rank*/) const {
    return clean;
  }
  virtual std::unique_ptr<Communicator> communicator(std::unique_ptr<Communicator> clean,
                                                     int /*rank*/) const {
    return clean;
  }
  virtual std::unique_ptr<Kernels> kernels(std::unique_ptr<Kernels> clean, int /*rank*/) const {
    return clean;
  }
  virtual std::unique_ptr<Clipper> clipper(std::unique_ptr<Clipper> clean, Device&, Stream&,
                                           Communicator&, Kernels&, double /*max_norm*/,
                                           std::int64_t /*global_count*/) const {
    return clean;
  }
  virtual std::unique_ptr<LossWeighting> loss_weighting(
      std::unique_ptr<LossWeighting> clean) const {
    return clean;
  }
  virtual StageFactory stage(StageFactory clean) const { return clean; }
};

/// Exchanges nothing.
class CleanParts final : public Fault {
 public:
  const FaultLabel& label() const override { return label_; }

 private:
  FaultLabel label_;
};

}  // namespace zerolab
