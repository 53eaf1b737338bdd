/// \file
/// The options of `zerolab plan`, and the plan that they ask for.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "experiments/plan/plan_report.h"

namespace zerolab {

/// As typed. Zero and empty: not given.
struct PlanOptions {
  ModelRequest model;
  RunConfig run;
  std::string stage = "all";
  std::string device, accounting = "measured", recompute = "none", activations,
                      algorithm = "fastest";
  std::string reduction = "ring", accumulation_order = "local", overlap = "on";
  std::string lamb_norms = "tensor";
  double memory_gb = 0, tflops = 0, product_tflops = 0;                   ///< of one device
  double memory_bandwidth = 0, intra_bandwidth = 0, inter_bandwidth = 0;  ///< GB/s
  double intra_latency = 1, inter_latency = 5;                            ///< µs
  double bucket_elements = 0;
  std::string config_file;  ///< DeepSpeed JSON

  CLI::App* command = nullptr;
  bool given(const std::string& option) const { return command->count(option) > 0; }
  /// Whether `plan` has the option at all.
  bool knows(const std::string& option) const {
    return command->get_option_no_throw(option) != nullptr;
  }
};

/// Adds model, cluster and recipe.
void add_plan_options(CLI::App& command, PlanOptions& options);

/// The request. What is to be told, and what a DeepSpeed JSON says besides, goes to `report`.
/// \throws BadInput for a name or a number that makes no sense.
PlanRequest plan_request(const PlanOptions& options, PlanReport& report);

}  // namespace zerolab
