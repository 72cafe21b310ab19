// What the trials of one subject say, said once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "infermeter/samples/samples.hpp"

namespace infermeter {

// The diagnostics of all trials. Those that differ only in their figures become one, with the number of processes and
// the worst of the messages; in the order in which they were first met. `label` is what they are about.
[[nodiscard]] std::vector<Diagnostic> merged_diagnostics(std::span<const Samples> trials, const std::string& label);

// One trial_failed for each way in which trials ended before their time, and a trial_interrupted.
[[nodiscard]] std::vector<Diagnostic> failures(std::span<const Samples> trials, const std::string& label);

}  // namespace infermeter
