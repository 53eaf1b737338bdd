#include "experiments/cli/run_app.h"

#include <unistd.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <new>

#include "experiments/cli/help_format.h"
#include "experiments/cli/launch.h"
#include "experiments/report/verdict_table.h"
#include "stages/core/error.h"
#include "stages/core/join.h"
#include "stages/core/nearest.h"

namespace zerolab {
namespace {

/// The last subcommand that the command line reached.
const CLI::App& reached(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : reached(*parsed.front());
}

std::string command_line(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent ? command_line(*parent) + " " + command.get_name() : command.get_name();
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands(nullptr)) names.push_back(sub->get_name());
  return names;
}

/// \throws BadInput about the first word that nothing on the command line explains.
void reject_extras(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(true);
  if (extras.empty()) return;
  const CLI::App& command = reached(app);
  const std::string word = extras.front().substr(0, extras.front().find('='));
  const std::vector<std::string> subcommands = subcommand_names(command);
  if (word.starts_with("-")) {
    bad_input("[options] {} has no option {}; did you mean {}?", command_line(command), word,
              nearest(word, option_names(command)));
  }
  if (!subcommands.empty()) {
    bad_input("[options] {} has no command '{}'; did you mean '{}'? (known: {})",
              command_line(command), word, nearest(word, subcommands), joined(subcommands));
  }
  bad_input("[options] {} does not take the word '{}'; {} --help shows its options",
            command_line(command), word, command_line(command));
}

/// CLI11's own errors: a value of the wrong kind, a value or an argument that is missing.
[[noreturn]] void throw_as_bad_input(const CLI::App& app, const CLI::ParseError& error) {
  std::string what = error.what();
  const std::string conversion = "Could not convert: ";
  if (what.starts_with(conversion)) {
    what = what.substr(conversion.size()) + " is not a value of the right kind";
  }
  bad_input("[options] {}; {} --help shows what each option takes", what,
            command_line(reached(app)));
}

int parse_and_run(const AppText& text, const AddCommands& add_commands, int argc,
                  const char* const* argv, Console& console) {
  CLI::App app{text.description, text.name};
  app.formatter(std::make_shared<HelpFormat>());  // inherited by the commands
  app.footer(text.footer);
  app.set_version_flag("--version", "zerolab " ZEROLAB_VERSION);
  app.allow_extras();  // inherited by the commands; `reject_extras` says what is wrong with them
  app.require_subcommand(0, 1);  // after `bench`, "compare" is a word and not the next command
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  Command chosen;
  add_commands(app, chosen);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wish) {  // --help, --version
    return app.exit(wish, console.out, console.err);
  } catch (const CLI::ParseError& error) {
    throw_as_bad_input(app, error);
  }
  reject_extras(app);
  if (!chosen) {
    const CLI::App& command = reached(app);
    bad_input("[options] {} needs a command: {}", command_line(command),
              joined(subcommand_names(command)));
  }
  return chosen(console);
}

}  // namespace

int run_app(const AppText& text, const AddCommands& add_commands, int argc, const char* const* argv,
            std::ostream& out, std::ostream& err) {
  const Launch launch = launch_of_this_process();
  const bool speaks = launch.rank == 0;
  // mpirun gives its processes terminals of its own, whatever it writes to itself.
  const bool alone = launch.size == 1;
  Console console{out, err, alone && &err == &std::cerr && isatty(STDERR_FILENO) == 1,
                  alone && &out == &std::cout && wants_colour(stdout)};
  const auto report = [&](const char* message) {
    // In one piece: under mpirun others write to the same terminal.
    if (speaks) err << fmt::format("{}: {}\n", text.name, message) << std::flush;
  };
  // Before there is a world all processes fail alike, and the first one's exit code is the job's.
  const auto code = [&](int own) { return speaks || console.world ? own : 0; };
  try {
    return parse_and_run(text, add_commands, argc, argv, console);
  } catch (const Error& error) {
    report(error.what());
    return code(error.exit_code());
  } catch (const std::bad_alloc&) {
    report(
        "[memory] the machine has no memory left for this run; use a smaller model, "
        "--micro-batch or --ranks");
    return code(3);
  } catch (const std::exception& error) {
    report(error.what());
    return code(3);
  }
}

}  // namespace zerolab
