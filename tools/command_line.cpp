#include "tools/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>

#include "planner/ir/errors.hpp"

namespace hsap {

namespace {

constexpr int kBadInput = 1;
constexpr int kWrongUsage = 2;

int complain(const CLI::App& app, std::string message, int status) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::cout.flush();
  std::cerr << app.get_name() << ": " << message << '\n';
  return status;
}

/// "hsap-plan trace" when that subcommand was being parsed.
std::string command_words(const CLI::App& app) {
  std::string words = app.get_name();
  for (const CLI::App* subcommand : app.get_subcommands()) words += " " + subcommand->get_name();
  return words;
}

std::string whole_number_problem(const std::string& text) {
  constexpr std::size_t kMostDigits = 18;  // fits 64 bits
  const bool digits =
      !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= '0' && c <= '9'; });
  if (digits && (text.size() == 1 || text.front() != '0') && text.size() <= kMostDigits) return {};
  return "found \"" + text + "\", expected a whole number such as 131072";
}

}  // namespace

const CLI::Validator kWholeNumber(whole_number_problem, "");

void describe(CLI::App& app, const std::string& example) {
  app.set_version_flag("--version", app.get_name() + " " HSAP_VERSION);
  app.footer("Example:\n" + example + "\n\nExit status: 0 done, 1 an input is wrong or a run failed, 2 wrong usage.");
}

int run_command_line(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    return complain(app, std::string(error.what()) + "; see " + command_words(app) + " --help", kWrongUsage);
  } catch (const std::bad_alloc&) {
    return complain(app, "out of memory", kBadInput);
  } catch (const std::exception& error) {
    return complain(app, error.what(), kBadInput);
  }
  std::cout.flush();
  return std::cout ? 0 : complain(app, "standard output cannot be written", kBadInput);
}

}  // namespace hsap
