// What an alarm of a history asks for: the builds before and after it, measured side by side.
#pragma once

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/report/history/report.hpp"
#include "infermeter/store/store.hpp"

namespace infermeter {

// The command that compares what the last run before the alarm measured with what the latest run measured, if the files
// of both are still on this disk; otherwise what is missing. `history` has an alarm and is of this machine.
[[nodiscard]] Result<Confirmation> confirmation_of(Store& store, const History& history);

}  // namespace infermeter
