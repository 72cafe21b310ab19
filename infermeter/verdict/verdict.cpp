#include "infermeter/verdict/verdict.hpp"

#include <algorithm>

namespace infermeter {

Direction direction_of(const Estimate& ratio, double precision) {
  if (!ratio.value || !ratio.interval) return Direction::unresolved;
  const auto [low, high, confidence] = *ratio.interval;
  if (low > 1) return Direction::faster;
  if (high < 1) return Direction::slower;
  return low * (1 + precision) >= 1 && high <= 1 + precision ? Direction::equivalent : Direction::unresolved;
}

const Ratio* ratio_of(const SubjectVerdict& verdict, std::string_view metric) {
  const auto found = std::ranges::find(verdict.ratios, metric, &Ratio::metric);
  return found == verdict.ratios.end() ? nullptr : &*found;
}

bool is_determined(const SubjectVerdict& verdict, const CounterSummary& counter) {
  return counter.estimate.value && (!verdict.load || verdict.load->why_no_figure(counter.name).empty());
}

bool is_on_device(const SubjectVerdict& verdict) {
  const Metric* metric = verdict.summary.metric("device_memory_peak");
  return metric != nullptr && metric->estimate.value;
}

}  // namespace infermeter
