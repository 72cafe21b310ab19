// "reproducible over 3 runs within 2%": each run against what all of them have in common.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "infermeter/stats/summary/deviations.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/stats/summary/process_times.hpp"
#include "infermeter/verdict/across_runs.hpp"
#include "infermeter/verdict/gate/finding.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

struct RunValues {
  std::string id;
  std::vector<double> values;  // one per process, positive
};

RunValues values_in(const RunRecord& run, int subject, std::string_view metric) {
  const auto trials = trials_of(run, subject);
  const auto times = subject_times(trials, summary_options(run));
  RunValues result{run.id, {}};
  if (times.ok == 0) return result;
  result.values = process_values(*metric_kind(metric), times);
  std::erase_if(result.values, [](double value) { return !(value > 0); });
  return result;
}

// This run and the last ones before it in which the same was measured, as many as are wanted.
std::vector<RunValues> repetitions(const Expectation& expectation, int subject, const GateEvidence& evidence) {
  std::vector<RunValues> runs = {values_in(evidence.run, subject, expectation.name)};
  for (const RunRecord& earlier : evidence.earlier) {
    if (static_cast<int>(runs.size()) == expectation.runs) break;
    const auto other = same_subject(evidence.run, subject, earlier);
    if (!other || earlier.id == evidence.run.id || !is_repetition(evidence.run, subject, earlier, *other)) continue;
    runs.push_back(values_in(earlier, *other, expectation.name));
    if (runs.back().values.empty()) runs.pop_back();
  }
  return runs;
}

double reach(const Deviation& deviation) {
  return std::max(std::abs(deviation.interval->low), std::abs(deviation.interval->high));
}

bool lies_beyond(const Interval& interval, double margin) { return interval.low > margin || interval.high < -margin; }

void decide(Finding& finding, const std::vector<Deviation>& deviations, const std::vector<RunValues>& runs,
            double margin) {
  const auto widest = std::ranges::max_element(deviations, {}, reach);
  const auto farthest = std::ranges::max_element(deviations, {}, [&](const Deviation& one) {
    return std::pair(lies_beyond(*one.interval, margin), std::abs(one.value));
  });
  const bool fails = lies_beyond(*farthest->interval, margin);
  const auto shown = fails ? farthest : widest;
  const std::string& id = runs[static_cast<std::size_t>(shown - deviations.begin())].id;
  finding.value = shown->value;
  finding.interval = shown->interval;
  if (fails) {
    finding.outcome = Outcome::fail;
    finding.why = fmt::format("the whole interval of run {} lies beyond the margin", id);
  } else if (reach(*widest) <= margin) {
    finding.outcome = Outcome::pass;
    finding.why = "the intervals of all runs lie within the margin";
  } else {
    finding.outcome = Outcome::inconclusive;
    finding.why = fmt::format(
        "the interval of run {} reaches beyond the margin; more processes in each run narrow it "
        "(--processes)",
        id);
  }
}

}  // namespace

Finding find_reproducibility(const Expectation& expectation, int subject, const GateEvidence& evidence) {
  const std::vector<RunValues> runs = repetitions(expectation, subject, evidence);
  Finding finding;
  finding.n = static_cast<std::int64_t>(runs.size());
  finding.n_of = "runs";
  std::vector<std::vector<double>> values;
  for (const RunValues& run : runs) {
    values.push_back(run.values);
    finding.processes += static_cast<int>(run.values.size());
  }
  if (runs.front().values.empty()) {
    finding.why = "not measured";
    return finding;
  }
  if (static_cast<int>(runs.size()) < expectation.runs) {
    finding.why = fmt::format("needs {} finished runs of the same subject under the same conditions, and there {} {}",
                              expectation.runs, runs.size() == 1 ? "is" : "are", runs.size());
    return finding;
  }
  const auto deviations = deviations_from_centre(values, Coverage{}.confidence);
  if (!std::ranges::all_of(deviations, [](const Deviation& one) { return one.interval.has_value(); })) {
    finding.why = "needs 2 processes in each run for an interval (--processes 3)";
    return finding;
  }
  decide(finding, deviations, runs, expectation.threshold);
  return finding;
}

}  // namespace infermeter
