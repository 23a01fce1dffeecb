// How every hsap command meets its user: exit 0 when done, 1 when an input is wrong or a run failed, 2 when the command line
// cannot be understood; one line on standard error says why.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace hsap {

/// Adds --version and sets how help is laid out. `example` ends the help text.
void describe(CLI::App& app, const std::string& example);

/// Parses and then runs the callbacks of `app` and its subcommands. Returns the exit status.
int run_command_line(CLI::App& app, int argc, const char* const* argv);

/// Accepts whole numbers without sign, separators or leading zeros ("010" would be read as octal by others).
extern const CLI::Validator kWholeNumber;

}  // namespace hsap
