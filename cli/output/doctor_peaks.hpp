// doctor --peaks: what this machine's processor and memory do at best.
#pragma once

#include <atomic>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "infermeter/samples/environment.hpp"
#include "infermeter/samples/machine_peaks.hpp"

namespace infermeter {

// With one thread and, where there are more processors, with one on each.
[[nodiscard]] std::vector<MachinePeaks> measure_all_peaks(const Environment& machine,
                                                          const std::atomic<int>* interrupt);

[[nodiscard]] std::string as_text(const std::vector<MachinePeaks>& peaks);
[[nodiscard]] nlohmann::ordered_json as_json(const std::vector<MachinePeaks>& peaks);

}  // namespace infermeter
