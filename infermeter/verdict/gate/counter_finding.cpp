// Counters of a subject against those of the first of its group, and whether its processes gave the same outputs.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "infermeter/stats/summary/process_interval.hpp"
#include "infermeter/verdict/gate/finding.hpp"
#include "infermeter/verdict/rounds/blocks.hpp"
#include "infermeter/verdict/summary_options.hpp"

namespace infermeter {
namespace {

std::vector<double> values_of(const RunRecord& run, int subject, std::string_view counter) {
  std::vector<double> values;
  for (const Samples& trial : trials_of(run, subject)) {
    if (trial.end != TrialEnd::ok) continue;
    const auto found = std::ranges::find(trial.counters, counter, &Counter::name);
    if (found != trial.counters.end() && std::isfinite(found->value)) values.push_back(found->value);
  }
  return values;
}

bool is_fact(const std::vector<double>& values) {
  return values.size() >= 2 && std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

// What two figures can differ by, each anywhere within its own interval: wider than Welch's, and never too narrow.
Interval distance(const Interval& one, const Interval& other) {
  const double low = one.low - other.high, high = one.high - other.low;
  const double far = std::max(std::abs(low), std::abs(high));
  const bool includes_none = low <= 0 && high >= 0;
  return {includes_none ? 0 : std::min(std::abs(low), std::abs(high)), far, one.confidence};
}

}  // namespace

Finding find_counter_difference(std::string_view counter, int subject, const GateEvidence& evidence) {
  const RunRecord& run = evidence.run;
  const auto first = static_cast<int>(first_of_group(run.plan, static_cast<std::size_t>(subject)));
  const auto before = values_of(run, first, counter), after = values_of(run, subject, counter);
  if (before.empty() || after.empty()) {
    return nothing(
        fmt::format("no process of {} counted '{}'", before.empty() ? "the first subject" : "this subject", counter));
  }
  const Coverage coverage = summary_options(run).coverage;  // of a run that was looked at while it went on
  const auto centre = [&](const std::vector<double>& values) {
    return covering(arithmetic_centre_of(values, coverage.of_processes), coverage);
  };
  const Centre one = centre(after), other = centre(before);
  Finding finding;
  finding.value = std::abs(one.value - other.value);
  finding.n = static_cast<std::int64_t>(first == subject ? after.size() : before.size() + after.size());
  finding.n_of = "processes";
  finding.processes = static_cast<int>(finding.n);
  finding.replications = static_cast<int>(after.size());
  finding.exact = is_fact(before) && is_fact(after);
  if (one.interval && other.interval) finding.interval = distance(*one.interval, *other.interval);
  if (!finding.interval) finding.why = "needs 2 processes for an interval (--processes 3)";
  return finding;
}

Finding find_repeated_outputs(int subject, const GateEvidence& evidence) {
  std::set<std::uint64_t> inputs, outputs;
  Finding finding;
  for (const Samples& trial : trials_of(evidence.run, subject)) {
    if (trial.end != TrialEnd::ok || trial.outputs.empty()) continue;
    inputs.insert(trial.input_digest);
    outputs.insert(trial.output_digest);
    ++finding.processes;
  }
  finding.exact = true;
  finding.n = finding.processes;
  finding.n_of = "processes";
  if (finding.processes < 2) {
    finding.why = "needs 2 processes that gave outputs (--processes 3)";
  } else if (inputs.size() > 1) {
    finding.why = "the processes had different inputs";
  } else {
    finding.outcome = outputs.size() == 1 ? Outcome::pass : Outcome::fail;
    finding.why = outputs.size() == 1 ? "every process gave the same bytes"
                                      : fmt::format("{} processes gave {} different outputs for the same input",
                                                    finding.processes, outputs.size());
  }
  return finding;
}

}  // namespace infermeter
