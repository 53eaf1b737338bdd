/// \file
/// How a command of `zerolab` is plugged in.
#pragma once

#include <CLI/App.hpp>
#include <functional>

#include "experiments/cli/console.h"

namespace zerolab {

/// What the command line chose to do; returns the exit code. \throws Error and whatever fails.
using Command = std::function<int(Console&)>;

/// Each adds its subcommand with its options; when the parser meets it, `chosen` is set.
void add_compare_command(CLI::App& app, Command& chosen);
void add_train_command(CLI::App& app, Command& chosen);
void add_diff_command(CLI::App& app, Command& chosen);
void add_faults_command(CLI::App& app, Command& chosen);
void add_bench_command(CLI::App& app, Command& chosen);
void add_plan_command(CLI::App& app, Command& chosen);

}  // namespace zerolab
