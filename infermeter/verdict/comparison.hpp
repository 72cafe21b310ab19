// Comparison: the answer to a plan's question, from pairs of processes that ran side by side in coin order. A pure
// function of the record, at any time while pairs come in.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infermeter/stats/comparison/design_power.hpp"
#include "infermeter/verdict/question.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// One metric of one candidate against the baseline. Differences are of natural logarithms, candidate less baseline,
// turned so that positive is worse (slower, larger, fewer items per second).
struct PairedComparison {
  int baseline = 0, candidate = 0;
  std::string metric;
  std::vector<double> differences;  // one per complete pair, in the order of pairs
  std::vector<int> order;  // of each of them: 1 where the candidate ran second, -1 where it ran first; or empty
  int incomplete = 0;      // pairs in which a process failed or the metric was not measured
  int dropped = 0;         // by Question::drop_disturbed
  // Of two runs: no pairs, but so many processes of each, and why no direction is reported whatever the interval says.
  int baseline_processes = 0, candidate_processes = 0;
  std::string withheld;

  Direction direction = Direction::unresolved;  // exploratory metrics: what it looks like; it decides nothing
  // Hodges–Lehmann; nullopt without a pair. Of two runs: of geometric means, with Welch's interval.
  std::optional<double> estimate;
  std::optional<Interval> interval;  // repeated interval of the last look; exploratory metrics: of this sample alone
  // That both are of: with several candidates one may be resolved by a look before the last pair. 0: all of them.
  int decided_pairs = 0;
  std::optional<Interval> t, sign;  // beside it: of this sample alone, not corrected for looks
  double p = 1;                     // signed-rank; exploratory metrics: adjusted (Benjamini & Hochberg)
  double standard_deviation = 0;    // of the differences
  double spread = 0;                // the same, robust: what the test is up against (spread_of)
  // Of an ended comparison: the effect that the looks at these pairs find with 80 % power; exploratory metrics: that
  // one look finds.
  std::optional<double> minimum_effect;
  std::optional<int> more_pairs;  // that it would take to resolve; only of an ended one that did not

  [[nodiscard]] int pairs() const { return decided_pairs > 0 ? decided_pairs : static_cast<int>(differences.size()); }
};

// What the next look can decide.
struct NextLook {
  int pairs = 0;
  std::optional<double> smallest_effect;  // log scale: what would be resolved there with the spread seen so far
};

struct ComparisonVerdict {
  // false: the processes of two runs, which were not interleaved (verdict/apart.hpp); no pairs, no looks.
  bool paired = true;
  std::vector<PairedComparison> primary;      // per candidate, in the plan's order
  std::vector<std::vector<Look>> looks;       // of each candidate, all that were taken
  std::vector<PairedComparison> exploratory;  // other metrics of each candidate
  int pairs = 0;                              // complete blocks of the order
  bool resolved = false;                      // every candidate's direction is known
  // false: the times of some pilot kept changing. The pairs are compared all the same: both of a pair are measured
  // alike.
  bool steady = true;
  bool hopeless = false;         // three pairs, and none of them complete
  bool ended = false;            // no more pairs will come
  double wall_s = 0;             // trials and pilots, from the first start to the last end
  std::optional<NextLook> next;  // while it goes on
};

// What is reported beside the metric that decides.
inline constexpr std::array<std::string_view, 6> exploratory_metrics = {"latency_p50", "latency_p90", "latency_mean",
                                                                        "throughput",  "memory_peak", "load_time"};

// nullopt: the plan asks no question. `ended`: the run is over, by decision, by budget or because all pairs are there.
[[nodiscard]] std::optional<ComparisonVerdict> judge_comparison(const RunRecord& record, bool ended);

// What a metric that was not asked for looks like: a direction that the interval has and the adjusted p confirms, or an
// interval within the margin.
[[nodiscard]] Direction exploratory_direction(const PairedComparison& one, const Question& question);

// Of these two by this metric; nullptr: they were not compared by it.
[[nodiscard]] const PairedComparison* paired(const ComparisonVerdict& comparison, int baseline, int candidate,
                                             std::string_view metric);

// How many times as good the candidate is, by its pairs. It has an estimate.
[[nodiscard]] Estimate ratio_of(const PairedComparison& pairs);

// What is wrong with comparing these subjects at all: inputs that differ. From the first trials or pilots.
[[nodiscard]] Result<Done> check_comparable(const RunRecord& record);

}  // namespace infermeter
