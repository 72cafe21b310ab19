// The trials of one subject made ready for statistics: which are used, and their durations, process by process.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "infermeter/samples/samples.hpp"
#include "infermeter/stats/summary/summary.hpp"

namespace infermeter {

struct ProcessTimes {
  const Samples* trial = nullptr;
  std::size_t replication = 0;  // which process, from 0; the same for all rounds of a program (Samples::host_process)
  std::vector<double>
      sorted;  // durations of the iterations that are kept, seconds, ascending (see Wanted); never empty
};

struct SubjectTimes {
  // The whole trials; where there is none, the partial ones. Ordered by process, so that no figure depends on the order
  // in which trials are handed in.
  std::vector<ProcessTimes> processes;
  std::vector<const Samples*> trials;  // all of them, in the same order
  std::size_t replications = 0;        // how many processes those are, of which intervals are made
  int ok = 0, partial = 0, failed = 0;
  std::int64_t not_finite = 0;  // iterations without a finite, non-negative duration: left out
  OutlierCount outliers;
  int rule_ignored = 0;  // processes in which the outlier rule was not followed (outliers.hpp)

  [[nodiscard]] std::int64_t iterations() const;
  [[nodiscard]] std::vector<double> pooled() const;  // ascending
};

// One value per process from one per trial: that of a worker as it is, the mean of those of a program's rounds.
class ProcessValues {
 public:
  void add(const Samples& trial, double value);
  [[nodiscard]] std::vector<double> values() const;  // in the order of the first trial of each
  // Samples::process of each value, the block that it ran in; empty where trials are rounds of a program.
  [[nodiscard]] std::vector<int> blocks() const;

 private:
  struct Sum {
    std::string_view host;
    int block = 0;
    double sum = 0;
    int count = 0;
  };
  std::vector<Sum> sums_;
};

// The outlier rule is not for trials under load. `wanted`: any_order leaves durations as they came and marks no
// outliers, which saves sorting a million of them where only their sum or nothing of them is needed.
enum class Wanted { sorted, any_order };
[[nodiscard]] SubjectTimes subject_times(std::span<const Samples> trials, const SummaryOptions& options,
                                         Wanted wanted = Wanted::sorted);

}  // namespace infermeter
