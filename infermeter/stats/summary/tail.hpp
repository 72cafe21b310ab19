// Percentiles of the tail: of all iterations of all processes together, with an interval that knows of the processes.
#pragma once

#include <cstdint>
#include <optional>

#include "infermeter/stats/summary/process_times.hpp"

namespace infermeter {

struct TailPercentile {
  double value = 0;                  // type 7 of the pooled iterations
  std::optional<Interval> interval;  // nullopt: the sample does not reach far enough beyond the percentile
};

// The interval inverts the empirical distribution F at q ± t[m−1] s (Woodruff, "Confidence intervals for medians and
// other position measures", J. Am. Stat. Assoc. 47 (1952) 635–646) with s² = D q (1−q) / N, where D is the design
// effect of the m processes as clusters: by how much the share of iterations up to the value varies more between them
// than it would if iterations were independent. It is never narrower than that of independent iterations
// (quantile_ranks). Where the upper rank lies beyond the largest value, that one takes its place if N / D is as much as
// quantile_needs; otherwise there is no interval. `times` are sorted ones with at least one iteration; q in (0, 1).
[[nodiscard]] TailPercentile tail_percentile(const SubjectTimes& times, double q, double confidence);

// How many iterations in all give an interval in 95 % of the samples whose processes do not differ: quantile_needs
// times the 95 % quantile of the design effect, χ²[m−1] / (m−1). One process: quantile_needs.
[[nodiscard]] std::int64_t tail_iterations(double q, int processes, double confidence = 0.95);

}  // namespace infermeter
