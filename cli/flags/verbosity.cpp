#include "cli/flags/verbosity.hpp"

namespace infermeter {

void VerbosityFlags::declare(CLI::App& app, const std::string& group) {
  CLI::Option* quieter = app.add_flag("-q,--quiet", quiet, "No progress on standard error.")->group(group);
  app.add_flag("-v,--verbose", verbose,
               "Also print the programs, folders and settings used, and the phases of each trial with their times.")
      ->group(group)
      ->excludes(quieter);
}

Verbosity VerbosityFlags::level() const {
  if (quiet) return Verbosity::quiet;
  return verbose ? Verbosity::verbose : Verbosity::usual;
}

}  // namespace infermeter
