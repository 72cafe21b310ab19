// One side of a ratio made ready, so that many ratios of the same subjects take each one's times once.
#pragma once

#include <vector>

#include "infermeter/stats/summary/metrics.hpp"

namespace infermeter {

struct RatioSide {
  Estimate estimate;
  std::vector<double> values;  // of its processes; empty for metrics that have none
  std::vector<int> blocks;     // of each value; empty: not known
};
[[nodiscard]] RatioSide ratio_side(const MetricKind& kind, const SubjectTimes& times, const Coverage& coverage);

// As ratio() of summary.hpp.
[[nodiscard]] Estimate ratio_of_sides(const MetricKind& kind, const RatioSide& baseline, const RatioSide& candidate,
                                      const Coverage& coverage, Pairing pairing);

// The same with baseline and candidate exchanged: the reciprocal, its interval turned.
[[nodiscard]] Estimate reversed(Estimate ratio);

}  // namespace infermeter
