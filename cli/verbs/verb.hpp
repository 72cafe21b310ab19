// Verb: one word of the command line. Each has a file of its own that declares its options and does what they ask for.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string_view>

#include "cli/surroundings.hpp"
#include "infermeter/diagnostics/result.hpp"

namespace infermeter {

// Does what was parsed; the exit code, or why it cannot be done.
using Action = std::function<Result<int>(Surroundings& world)>;

struct Verb {
  std::string_view name;
  std::string_view summary;  // one line, for `infermeter --help`
  // Adds options to `app` and returns what is to be done when they are parsed; called only for the verb that is used.
  Action (*declare)(CLI::App& app);
  bool has_tables = false;  // as wide as the terminal, or as --width says
};

Action declare_run(CLI::App& app);
Action declare_compare(CLI::App& app);
Action declare_load(CLI::App& app);
Action declare_profile(CLI::App& app);
Action declare_import(CLI::App& app);
Action declare_gate(CLI::App& app);
Action declare_report(CLI::App& app);
Action declare_runs(CLI::App& app);
Action declare_store(CLI::App& app);
Action declare_baseline(CLI::App& app);
Action declare_history(CLI::App& app);
Action declare_publish(CLI::App& app);
Action declare_validate(CLI::App& app);
Action declare_variants(CLI::App& app);
Action declare_study(CLI::App& app);
Action declare_tune(CLI::App& app);
Action declare_models(CLI::App& app);
Action declare_backends(CLI::App& app);
Action declare_doctor(CLI::App& app);
Action declare_completion(CLI::App& app);
Action declare_version(CLI::App& app);

}  // namespace infermeter
