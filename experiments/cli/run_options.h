/// \file
/// The options that `compare`, `train` and `faults run` share.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "experiments/config/run_config.h"

namespace zerolab {

/// As typed, before it becomes a RunConfig.
struct RunOptions {
  RunConfig config;
  std::string stages, checks, reduction, accumulation_order, overlap, schedule, warmup_shape;
  std::string lamb_norms;
  std::string plots = "on";
  bool quiet = false;

  CLI::App* command = nullptr;
  /// Whether the user gave the option: "--ranks".
  bool given(const std::string& option) const { return command->count(option) > 0; }
};

/// Adds what describes a training run: world, model, data, training, reductions, output.
/// `options.config` holds the defaults that --help shows.
void add_run_options(CLI::App& command, RunOptions& options);

/// Adds --config, a DeepSpeed JSON.
void add_config_option(CLI::App& command, RunOptions& options);

/// "ddp,zero1" → {"ddp", "zero1"}; empty entries are kept, so that a stray comma is an error.
std::vector<std::string> split_list(const std::string& list);

/// "none" → {}, "ref,mem" → {"REF", "MEM"}. REP and IG bring REF with them, which they compare by.
/// \throws BadInput naming the nearest known check.
std::vector<std::string> parse_checks(const std::string& list);

/// Options without which a fault does not act, "--clip 0.5": each is set unless the user has set
/// it; --check adds to what is on already.
void apply_needs(RunOptions& options, const std::vector<std::string>& needs);

/// The configuration that was typed. \throws BadInput for a name that is not known.
RunConfig run_config(const RunOptions& options);

}  // namespace zerolab
