// Which series and which machine is meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/diagnostics/result.hpp"
#include "infermeter/store/store.hpp"

namespace infermeter {

// "this", "all" (nullopt), a fingerprint or the beginning of one of `machines`.
[[nodiscard]] Result<std::optional<std::string>> find_machine(std::string_view name, const std::string& this_machine,
                                                              const std::vector<MachineName>& machines);

// The one series with this name; else the one with this label; else the one that has `part` in its name or in a label.
// `series`: of all machines; only those of `machine` are meant, and the others are mentioned where nothing is found.
[[nodiscard]] Result<std::optional<std::string>> find_series(std::string_view part,
                                                             const std::vector<SeriesListing>& series,
                                                             const std::optional<std::string>& machine);

}  // namespace infermeter
