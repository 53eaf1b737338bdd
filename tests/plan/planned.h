/// \file
/// Requests that the tests of plans begin with.
#pragma once

#include "experiments/plan/stage_plans.h"
#include "experiments/runner/stage_factory.h"

namespace zerolab::test {

/// Mixed precision with AdamW on one node, activations as published: nothing is known about the
/// devices.
inline PlanRequest mixed_request(double parameters, int ranks) {
  PlanRequest request;
  ModelRequest model;
  model.parameters = parameters;
  request.model = planned_model(model);
  request.recipe.run.ranks = ranks;
  request.recipe.run.micro_batch = 1;
  request.recipe.run.precision = "bf16";
  request.recipe.activations = Activations::kPublished;
  request.recipe.run.reduction = Reduction::kRing;
  request.recipe.run.bucket_mb = 25;
  request.time.cluster.ranks = ranks;
  request.stages = stage_names();
  return request;
}

/// A preset as `compare` trains it.
inline PlanRequest preset_request(const char* name, int ranks) {
  PlanRequest request;
  ModelRequest model;
  model.model = name;
  request.model = planned_model(model);
  request.recipe.run.model = name;
  request.recipe.run.ranks = ranks;
  request.time.cluster.ranks = ranks;
  request.stages = stage_names();
  return request;
}

/// On machines that are all alike: numbers that are easy to reckon with.
inline DeviceSpec plain_device() {
  DeviceSpec device;
  device.name = "plain";
  device.peak_flops = 2e12;
  device.product_flops = 1e12;
  device.memory_bytes = 80e9;
  device.memory_bandwidth = 1e12;
  device.intra_bandwidth = 100e9;
  device.inter_bandwidth = 10e9;
  return device;
}

}  // namespace zerolab::test
