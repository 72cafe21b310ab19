// Profiles of operators, stacks and peaks of machines as JSON: the form in the store. What comes back equals what was
// given, invalid UTF-8 excepted.
#pragma once

#include <string>
#include <string_view>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/samples/machine_peaks.hpp"
#include "infermeter/samples/operator_profile.hpp"
#include "infermeter/samples/stack_profile.hpp"

namespace infermeter {

[[nodiscard]] std::string profile_to_json(const OperatorProfile& profile);
// Errors also where events and operators do not fit together.
[[nodiscard]] Result<OperatorProfile> profile_from_json(std::string_view text);

[[nodiscard]] std::string stacks_to_json(const TrialStacks& stacks);
// Errors also where samples, frames and threads do not fit together.
[[nodiscard]] Result<TrialStacks> stacks_from_json(std::string_view text);

[[nodiscard]] std::string peaks_to_json(const MachinePeaks& peaks);
[[nodiscard]] Result<MachinePeaks> peaks_from_json(std::string_view text);

}  // namespace infermeter
