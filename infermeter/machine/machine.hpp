// The machine: what it is (Environment), and what about it disturbs a measurement (Findings).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "infermeter/diagnostics/diagnostic.hpp"
#include "infermeter/samples/environment.hpp"

namespace infermeter {

// Reads /proc and /sys below `root` ("/" but in tests); what cannot be read stays empty.
[[nodiscard]] Environment read_environment(const std::filesystem::path& root = "/");

// Of this machine, as its kernel knows it; empty: it knows none.
[[nodiscard]] std::string host_name();

// Fills git_commit from the repository that `folder` lies in, by reading its files: no program is run, nothing written.
void read_git(Environment& environment, const std::filesystem::path& folder);

// What of this machine disturbs a measurement, the worst first.
[[nodiscard]] std::vector<Diagnostic> examine(const Environment& environment);

}  // namespace infermeter
