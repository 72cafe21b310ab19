// Comparison: the answer to a plan's question, from pairs of processes that ran side by side in coin order. A pure
// function of the record, at any time while pairs come in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "infermeter/stats/sequential.hpp"
#include "infermeter/verdict/run_record.hpp"

namespace infermeter {

// One metric of one candidate against the baseline. Differences are of natural logarithms, candidate less baseline,
// turned so that positive is worse (slower, larger, fewer items per second).
struct PairedComparison {
  int baseline = 0, candidate = 0;
  std::string metric;
  std::vector<double> differences;  // one per complete pair, in the order of pairs
  int incomplete = 0;               // pairs in which a process failed or the metric was not measured
  int dropped = 0;                  // by Question::drop_disturbed

  Direction direction = Direction::unresolved;
  std::optional<double> estimate;    // Hodges–Lehmann; nullopt without a pair
  std::optional<Interval> interval;  // repeated interval of the last look; exploratory metrics: of this sample alone
  std::optional<Interval> t, sign;   // beside it: of this sample alone, not corrected for looks
  double p = 1;                      // signed-rank; exploratory metrics: adjusted (Benjamini & Hochberg)
  double standard_deviation = 0;     // of the differences
  std::optional<double> minimum_effect;  // detectable with these pairs: 80 % power at 5 %
  std::optional<int> more_pairs;         // that it would take to resolve; only while unresolved
};

// What the next look can decide.
struct NextLook {
  int pairs = 0;
  std::optional<double> smallest_effect;  // log scale: what would be resolved there with the spread seen so far
};

struct ComparisonVerdict {
  std::vector<PairedComparison> primary;      // per candidate, in the plan's order
  std::vector<std::vector<Look>> looks;       // of each candidate, all that were taken
  std::vector<PairedComparison> exploratory;  // other metrics of each candidate
  int pairs = 0;                              // complete blocks of the order
  bool resolved = false;                      // every candidate's direction is known
  bool steady = true;                         // false: a subject has no steady state, so that nothing is decided
  bool hopeless = false;                      // three pairs, and none of them complete
  bool ended = false;                         // no more pairs will come
  double wall_s = 0;                          // trials and pilots, from the first start to the last end
  std::optional<NextLook> next;               // while it goes on
};

// nullopt: the plan asks no question. `ended`: the run is over, by decision, by budget or because all pairs are there.
[[nodiscard]] std::optional<ComparisonVerdict> judge_comparison(const RunRecord& record, bool ended);

// --metric's words: p50, p90, p99, mean, throughput, peak_memory, load_time; the metrics' own names as well.
[[nodiscard]] Result<std::string> metric_from_string(std::string_view name);

// What is wrong with comparing these subjects at all: inputs that differ. From the first trials or pilots.
[[nodiscard]] Result<Done> check_comparable(const RunRecord& record);

}  // namespace infermeter
