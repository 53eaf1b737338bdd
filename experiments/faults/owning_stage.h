/// \file
/// A decorator that owns the stage it forwards to.
#pragma once

#include <memory>
#include <utility>

#include "stages/parallel/forwarding_stage.h"

namespace zerolab {

/// Holds the stage before the forwarding base refers to it.
class OwnedInner {
 protected:
  explicit OwnedInner(std::unique_ptr<Stage> inner) : owned_(std::move(inner)) {}
  std::unique_ptr<Stage> owned_;
};

/// Derive and override the calls of interest.
class OwningStage : private OwnedInner, public ForwardingStage {
 public:
  explicit OwningStage(std::unique_ptr<Stage> inner)
      : OwnedInner(std::move(inner)), ForwardingStage(*owned_) {}
};

}  // namespace zerolab
