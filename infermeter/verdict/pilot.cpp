#include "infermeter/verdict/pilot.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "infermeter/stats/comparison/design_power.hpp"
#include "infermeter/stats/comparison/rounds.hpp"
#include "infermeter/stats/comparison/sequential.hpp"
#include "infermeter/stats/summary/metrics.hpp"
#include "infermeter/stats/summary/moments.hpp"
#include "infermeter/stats/summary/quantile.hpp"
#include "infermeter/stats/summary/tail.hpp"
#include "infermeter/verdict/question.hpp"
#include "infermeter/verdict/tuning/constraints.hpp"

namespace infermeter {
namespace {

// Of timed iterations in each process: below, the interval is wider than its time saves (docs/methodology.md).
constexpr double shortest_loop_s = 0.012;
constexpr double most_for_loop = 10'000;
constexpr double longest_s = 10;  // of timed iterations that `run` asks for by itself
constexpr std::int64_t most_pilot_iterations = 100'000;
constexpr int most_failures = 2;  // a subject that fails its pilots is not asked a third time

std::vector<const Samples*> pilots_of(const RunRecord& record, std::size_t subject) {
  std::vector<const Samples*> pilots;
  for (const Samples& trial : record.side_trials) {
    if (trial.purpose == Purpose::pilot && trial.subject == static_cast<int>(subject)) pilots.push_back(&trial);
  }
  return pilots;
}

bool sees_warmup(const Samples& pilot) { return pilot.warmup_begin_s.empty(); }
bool is_usable(const Samples& pilot) { return pilot.end == TrialEnd::ok && pilot.iterations() > 0; }

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double beside_iterations_s(const Samples& pilot) {
  double warmup_s = 0;
  for (std::size_t i = 0; i < pilot.warmup_begin_s.size(); ++i) {
    warmup_s += pilot.warmup_end_s[i] - pilot.warmup_begin_s[i];
  }
  // Of a long warm-up only the first iterations were timed.
  if (warmup_s > 0) warmup_s *= static_cast<double>(pilot.warmups()) / static_cast<double>(pilot.warmup_begin_s.size());
  return std::max(pilot.wall_s - sum(latencies_s(pilot)) - warmup_s, 0.0);
}

std::int64_t warmup_of(const SteadyState& steady, std::size_t iterations) {
  const bool unknown = steady.kind == SteadyClass::no_steady_state || steady.kind == SteadyClass::too_short;
  return std::max(static_cast<std::int64_t>(unknown ? iterations / 2 : steady.begin), least_warmup);
}

// What one pilot that began with the first iteration shows.
struct Seen {
  const Samples* pilot = nullptr;
  SteadyState steady;
  std::int64_t warmup = 0;  // iterations

  [[nodiscard]] bool is_steady() const { return steady.kind != SteadyClass::no_steady_state; }
  // Longer than what later pilots time, and than what their processes cost beside it.
  [[nodiscard]] bool is_costly() const {
    if (!is_steady() || steady.kind == SteadyClass::too_short || warmup <= later_pilot_iterations) return false;
    const auto times = latencies_s(*pilot);
    return sum(std::span(times).first(static_cast<std::size_t>(warmup))) > beside_iterations_s(*pilot);
  }
};

std::vector<Seen> seen_in(const std::vector<const Samples*>& pilots) {
  std::vector<Seen> all;
  for (const Samples* pilot : pilots) {
    if (!is_usable(*pilot) || !sees_warmup(*pilot)) continue;
    const auto times = latencies_s(*pilot);
    SteadyState steady = find_steady_state(times);
    const std::int64_t warmup = warmup_of(steady, times.size());
    all.push_back({pilot, std::move(steady), warmup});
  }
  return all;
}

// Warm-up is what every process does at its beginning; what disturbs a process does so anywhere in it. So of several
// pilots that settle the one that settles first counts, and where none does the last. `all` is not empty.
const Seen& that_counts(const std::vector<Seen>& all) {
  const Seen* counts = nullptr;
  for (const Seen& seen : all) {
    if (seen.is_steady() && (counts == nullptr || seen.warmup < counts->warmup)) counts = &seen;
  }
  return counts != nullptr ? *counts : all.back();
}

// Two pilots that settle at the same place, within ten iterations or a fifth of them.
bool is_confirmed(const std::vector<Seen>& all) {
  const Seen& first = that_counts(all);
  const std::int64_t near = std::max<std::int64_t>(10, first.warmup / 5);
  return std::ranges::count_if(
             all, [&](const Seen& seen) { return seen.is_steady() && seen.warmup - first.warmup <= near; }) > 1;
}

// A clock that cannot see an iteration gives 0, which has no logarithm.
std::vector<double> first_logs(std::span<const double> times_s) {
  std::vector<double> logs;
  for (const double time_s : times_s) {
    if (time_s > 0 && logs.size() < static_cast<std::size_t>(later_pilot_iterations)) logs.push_back(std::log(time_s));
  }
  return logs;
}

// Three times as long as the last one, within three and ten seconds.
Stopping longer_than(const Samples& pilot) {
  const double last_s = sum(latencies_s(pilot));
  const double iteration_s = std::max(last_s / static_cast<double>(pilot.iterations()), 1e-7);
  const double wanted_s = std::clamp(3 * last_s, longer_pilot_s, *first_pilot.duration_s);
  const auto wanted = static_cast<std::int64_t>(wanted_s / iteration_s);
  return {.warmup = 0,
          .iterations = std::clamp<std::int64_t>(wanted, 2 * *first_pilot.iterations, most_pilot_iterations),
          .duration_s = first_pilot.duration_s};
}

Stopping as_long_as(const Samples& pilot) {
  return {
      .warmup = 0, .iterations = static_cast<std::int64_t>(pilot.iterations()), .duration_s = first_pilot.duration_s};
}

// Settings are many, and what takes part in the race is reported by the race.
constexpr Stopping pilot_of_race{.warmup = 0, .iterations = 100, .duration_s = 2};

// By the pilots alone: there is nothing left to race with.
bool is_budget_spent(const RunRecord& record) { return wall_s(record.side_trials) > record.plan.tuning->budget_s; }

// Of each setting the sooner another process can be had, the fewer iterations: as Kalibera & Jones weigh them, where
// iterations vary twice as much as processes. Constraints on percentiles of the tail take as many as they need.
std::int64_t iterations_for_race(const Tuning& tuning, const PilotFinding& finding, std::int64_t warmup) {
  constexpr std::int64_t fewest = 10, most = 100;
  const double process_s = finding.process_s + static_cast<double>(warmup) * *finding.iteration_s;
  const double weighed = 2 * std::sqrt(process_s / std::max(*finding.iteration_s, 1e-9));
  std::int64_t wanted = std::clamp(static_cast<std::int64_t>(std::min(weighed, 1e6)), fewest, most);
  const auto for_figure = [&](std::string_view name) {
    const MetricKind* kind = metric_kind(name);
    if (kind == nullptr) return;
    wanted = std::max(wanted, kind->least_iterations());
  };
  for_figure(tuning.objective);
  const auto bounds = bounds_of(tuning);
  if (!bounds) return wanted;
  for (const Expectation& bound : *bounds) {
    const MetricKind* kind = metric_kind(bound.name);
    if (!is_measured(bound) || kind == nullptr || kind->source != MetricKind::Source::tail_percentile) continue;
    wanted = std::max(wanted, (tail_iterations(kind->q, kFirstLook) + kFirstLook - 1) / kFirstLook);
  }
  return wanted;
}

std::int64_t least_iterations(const MetricKind& kind) { return std::max<std::int64_t>(10, kind.least_iterations()); }

std::vector<const PilotFinding*> of_group(const Plan& plan, std::span<const PilotFinding> findings,
                                          std::size_t subject) {
  std::vector<const PilotFinding*> group;
  for (std::size_t i = 0; i < plan.subjects.size(); ++i) {
    if (plan.subjects[i].group == plan.subjects[subject].group) group.push_back(&findings[i]);
  }
  return group;
}

// Kalibera & Jones: the processes are as many as it takes, so that iterations are weighed against starting another.
std::int64_t iterations_for_question(const Question& question, std::span<const PilotFinding* const> group,
                                     std::int64_t warmup) {
  const MetricKind* kind = metric_kind(question.metric);
  if (kind == nullptr || !kind->of_iterations()) return 10;
  const auto too_short = [](const auto& logs) { return logs.size() < 2; };
  const std::int64_t least = least_iterations(*kind);
  std::vector<PilotTimes> times;
  for (const PilotFinding* finding : group) {
    if (!finding->iteration_s) continue;
    if (finding->logs.size() < 2 || std::ranges::any_of(finding->logs, too_short)) {
      return std::max<std::int64_t>(least, 30);
    }
    const double process_s = finding->process_s + static_cast<double>(warmup) * *finding->iteration_s;
    times.push_back({.logs = finding->logs, .process_cost_s = process_s, .iteration_cost_s = *finding->iteration_s});
  }
  return choose_iterations(times, least).iterations;
}

std::int64_t iterations_for_loop(double iteration_s) {
  return static_cast<std::int64_t>(std::ceil(std::min(shortest_loop_s / std::max(iteration_s, 1e-9), most_for_loop)));
}

bool is_of_iterations(const Plan& plan) {
  const MetricKind* kind = plan.question ? metric_kind(plan.question->metric) : nullptr;
  return kind == nullptr || kind->of_iterations();
}

// That an interval of p99 is to be had from.
int usual_processes(const Plan& plan) { return plan.automatic.processes ? kFirstLook : plan.processes; }

std::int64_t iterations_for_figures(int processes, double iteration_s) {
  const std::int64_t needed = (tail_iterations(0.99, processes) + processes - 1) / processes;
  const auto affordable = static_cast<std::int64_t>(longest_s / std::max(iteration_s, 1e-9));
  return std::max<std::int64_t>(10, std::min(needed, affordable));
}

// What one subject needs for itself, whatever the group's question.
std::int64_t iterations_for_subject(const Plan& plan, const PilotFinding& finding, std::int64_t warmup) {
  if (plan.tuning) return iterations_for_race(*plan.tuning, finding, warmup);
  return plan.question ? 0 : iterations_for_figures(usual_processes(plan), *finding.iteration_s);
}

// Variance of the mean log time over a subject's pilot processes.
std::optional<double> variance_between(const PilotFinding& finding) {
  std::vector<double> means;
  for (const auto& logs : finding.logs) {
    if (!logs.empty()) means.push_back(sum(logs) / static_cast<double>(logs.size()));
  }
  if (means.size() < 3) return std::nullopt;
  return moments_of(means).variance;
}

}  // namespace

PilotFinding find_in_pilots(const RunRecord& record, std::size_t subject) {
  PilotFinding finding;
  const auto pilots = pilots_of(record, subject);
  if (const auto seen = seen_in(pilots); !seen.empty()) {
    finding.steady = that_counts(seen).steady;
    finding.warmup = that_counts(seen).warmup;
  }
  std::vector<double> steady_s, beside_s;
  for (const Samples* pilot : pilots) {
    ++finding.pilots;
    if (!is_usable(*pilot)) {
      ++finding.failed;
      continue;
    }
    const auto times = latencies_s(*pilot);
    const auto skipped = sees_warmup(*pilot) ? std::min(static_cast<std::size_t>(finding.warmup), times.size() / 2) : 0;
    const std::span<const double> steady = std::span(times).subspan(skipped);
    finding.logs.push_back(first_logs(steady));
    steady_s.insert(steady_s.end(), steady.begin(), steady.end());
    beside_s.push_back(beside_iterations_s(*pilot));
  }
  if (steady_s.empty()) return finding;
  std::ranges::sort(steady_s);
  std::ranges::sort(beside_s);
  finding.iteration_s = quantile(steady_s, 0.5);
  finding.process_s = quantile(beside_s, 0.5);
  return finding;
}

std::vector<PilotFinding> find_in_pilots(const RunRecord& record) {
  std::vector<PilotFinding> findings;
  for (std::size_t i = 0; i < record.plan.subjects.size(); ++i) findings.push_back(find_in_pilots(record, i));
  return findings;
}

std::optional<Stopping> next_pilot(const RunRecord& record, std::size_t subject) {
  const int wanted = pilot_processes(record.plan);
  if (wanted == 0) return std::nullopt;
  const auto pilots = pilots_of(record, subject);
  const auto failed = std::ranges::count_if(pilots, [](const Samples* pilot) { return !is_usable(*pilot); });
  if (failed >= most_failures) return std::nullopt;
  const auto seen = seen_in(pilots);
  if (record.plan.tuning) return seen.empty() && !is_budget_spent(record) ? std::optional(pilot_of_race) : std::nullopt;
  if (seen.empty()) return first_pilot;
  const Seen& counts = that_counts(seen);
  if (record.plan.automatic.warmup && seen.size() < most_long_pilots) {
    if (!counts.is_steady()) return longer_than(*seen.back().pilot);
    if (counts.is_costly() && !is_confirmed(seen)) return as_long_as(*counts.pilot);
  }
  const auto later = std::ranges::count_if(pilots, [](const Samples* p) { return is_usable(*p) && !sees_warmup(*p); });
  if (static_cast<std::size_t>(later) + seen.size() >= static_cast<std::size_t>(wanted)) return std::nullopt;
  return Stopping{.warmup = counts.warmup, .iterations = later_pilot_iterations, .duration_s = 10};
}

Stopping settle(const Plan& plan, std::span<const PilotFinding> findings, std::size_t subject) {
  Stopping stopping = plan.stopping;
  const auto group = of_group(plan, findings, subject);
  const auto is_known = [](const PilotFinding* finding) { return finding->iteration_s.has_value(); };
  if (std::ranges::none_of(group, is_known)) return stopping;
  if (plan.automatic.warmup) {
    stopping.warmup = (*std::ranges::max_element(group, {}, &PilotFinding::warmup))->warmup;
  }
  if (!plan.automatic.iterations) return stopping;
  stopping.duration_s.reset();
  stopping.iterations =
      plan.question && !plan.tuning ? iterations_for_question(*plan.question, group, stopping.warmup) : 0;
  for (const PilotFinding* finding : group) {
    if (!is_known(finding)) continue;
    stopping.iterations = std::max(*stopping.iterations, iterations_for_subject(plan, *finding, stopping.warmup));
    if (!is_of_iterations(plan)) continue;
    stopping.iterations = std::max(*stopping.iterations, iterations_for_loop(*finding->iteration_s));
  }
  return stopping;
}

std::optional<Outlook> outlook(const Plan& plan, std::span<const PilotFinding> findings) {
  if (!plan.question || plan.subjects.size() < 2) return std::nullopt;
  Outlook result;
  double of_first = 0, of_worst = 0;  // variances between processes
  for (std::size_t i = 0; i < plan.subjects.size(); ++i) {
    const PilotFinding& finding = findings[i];
    const auto between = variance_between(finding);
    if (!between || !finding.iteration_s) return std::nullopt;
    const Stopping stopping = settle(plan, findings, i);
    const double iterations = static_cast<double>(stopping.warmup + stopping.iterations.value_or(0));
    result.pair_s += finding.process_s + iterations * *finding.iteration_s;
    if (i == 0) {
      of_first = *between;
    } else {
      of_worst = std::max(of_worst, *between);
    }
  }
  result.pairs = plan.processes;
  if (const auto& budget = plan.question->budget_s; budget && result.pair_s > 0) {
    result.pairs = std::min(result.pairs, static_cast<int>(*budget / result.pair_s));
  }
  result.standard_deviation = std::sqrt(of_first + of_worst);
  if (result.pairs < 2) return std::nullopt;
  const auto shown = detectable_effect(share_of(design_of(plan), plan.subjects.size() - 1), result.pairs, true);
  if (!shown) return std::nullopt;
  result.smallest_effect = *shown * result.standard_deviation;
  return result;
}

}  // namespace infermeter
