// One side of a ratio made ready, so that many ratios of the same subjects take each one's times once.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "infermeter/stats/summary/metrics.hpp"

namespace infermeter {

struct RatioSide {
  Estimate estimate;
  std::vector<double> values;  // of its processes; empty for metrics that have none
  std::vector<int> blocks;     // of each value; empty: not known
};
[[nodiscard]] RatioSide ratio_side(const MetricKind& kind, const SubjectTimes& times, const Coverage& coverage);
[[nodiscard]] RatioSide ratio_side(std::span<const Samples> trials, const MetricKind& kind,
                                   const SummaryOptions& options);

// As ratio() of summary.hpp.
[[nodiscard]] Estimate ratio_of_sides(const MetricKind& kind, const RatioSide& baseline, const RatioSide& candidate,
                                      const Coverage& coverage, Pairing pairing);

struct RatioSides {
  const RatioSide* baseline;
  const RatioSide* candidate;
};
// Several ratios whose directions are one family: the chance that any interval leaves out 1 although its ratio is 1 is
// that of one interval (Holm, Scand. J. Statist. 6 (1979) 65–70). While n are open, each has the interval of
// coverage_of(n); what leaves out 1 keeps that interval, and the others get those of fewer.
[[nodiscard]] std::vector<Estimate> ratios_in_family(const MetricKind& kind, std::span<const RatioSides> family,
                                                     const std::function<Coverage(std::size_t)>& coverage_of,
                                                     Pairing pairing);

// The same with baseline and candidate exchanged: the reciprocal, its interval turned.
[[nodiscard]] Estimate reversed(Estimate ratio);

}  // namespace infermeter
