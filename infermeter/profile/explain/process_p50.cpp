#include "infermeter/profile/explain/process_p50.hpp"

#include <algorithm>
#include <cmath>

#include "infermeter/stats/summary/process_interval.hpp"
#include "infermeter/stats/summary/quantile.hpp"

namespace infermeter {

std::vector<ProcessP50> process_p50s(std::span<const Samples* const> trials) {
  std::vector<ProcessP50> whole;
  std::vector<ProcessP50> partial;
  for (const Samples* trial : trials) {
    if (trial == nullptr) continue;
    std::vector<double> latencies = latencies_s(*trial);
    std::erase_if(latencies, [](double value) { return !std::isfinite(value) || value <= 0; });
    if (latencies.empty()) continue;
    std::ranges::sort(latencies);
    (trial->end == TrialEnd::ok ? whole : partial).push_back({trial->process, quantile(latencies, 0.5)});
  }
  return whole.empty() ? partial : whole;
}

std::optional<double> p50_of(std::span<const Samples* const> trials) {
  std::vector<double> values;
  for (const ProcessP50& process : process_p50s(trials)) values.push_back(process.p50_s);
  if (values.empty()) return std::nullopt;
  return centre_of(values, 0.95).value;
}

}  // namespace infermeter
