// The trials of one subject made ready for statistics: which are used, and their durations, process by process.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "infermeter/samples/samples.hpp"
#include "infermeter/stats/summary.hpp"

namespace infermeter {

struct ProcessTimes {
  const Samples* trial = nullptr;
  std::vector<double>
      sorted;  // durations of the iterations that are kept, seconds, ascending (see Wanted); never empty
};

struct SubjectTimes {
  // The whole trials; where there is none, the partial ones. Ordered by process, so that no figure depends on the order
  // in which trials are handed in.
  std::vector<ProcessTimes> processes;
  std::vector<const Samples*> trials;  // all of them, in the same order
  int ok = 0, partial = 0, failed = 0;
  std::int64_t not_finite = 0;  // iterations without a finite, non-negative duration: left out
  OutlierCount outliers;
  int rule_ignored = 0;  // processes in which the outlier rule was not followed (outliers.hpp)

  [[nodiscard]] std::int64_t iterations() const;
  [[nodiscard]] std::vector<double> pooled() const;  // ascending
};

// `wanted`: any_order leaves durations as they came and marks no outliers, which saves sorting a million of them where
// only their sum or nothing of them is needed.
enum class Wanted { sorted, any_order };
[[nodiscard]] SubjectTimes subject_times(std::span<const Samples> trials, const SummaryOptions& options,
                                         Wanted wanted = Wanted::sorted);

}  // namespace infermeter
