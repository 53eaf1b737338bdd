/// \file
/// From a command line to an exit code, whatever the commands are.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "experiments/cli/command.h"

namespace zerolab {

/// What a program says about itself.
struct AppText {
  std::string name, description, footer;
};

/// Adds options and subcommands; sets the command to run, at once or when the parser meets it.
using AddCommands = std::function<void(CLI::App&, Command&)>;

/// Parses, runs the chosen command, and prints errors as one sentence on `err`; of several
/// processes under mpirun only the first one speaks. \returns the command's exit code; 2 for bad
/// input, 3 for a failure while running
int run_app(const AppText& text, const AddCommands& add_commands, int argc, const char* const* argv,
            std::ostream& out, std::ostream& err);

}  // namespace zerolab
