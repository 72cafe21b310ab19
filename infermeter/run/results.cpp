#include "infermeter/run/results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "infermeter/machine/machine.hpp"
#include "infermeter/trial/machine/clock.hpp"

namespace infermeter {

Estimate NamedResult::speedup_vs(const NamedResult& baseline) const {
  return ratio(baseline.trials, trials, "latency_p50", {}).estimate;
}

std::optional<double> NamedResult::memory_change_vs(const NamedResult& baseline) const {
  const Metric* mine = summary.metric("memory_peak");
  const Metric* theirs = baseline.summary.metric("memory_peak");
  if (mine == nullptr || theirs == nullptr || !mine->estimate.value || !theirs->estimate.value) return std::nullopt;
  return *mine->estimate.value - *theirs->estimate.value;
}

void Results::add(std::string_view name, std::vector<Samples> trials) {
  auto place = std::find_if(results_.begin(), results_.end(), [&](const auto& result) { return result.name == name; });
  if (place == results_.end())
    place = results_.insert(results_.end(), {.name = std::string(name), .trials = {}, .summary = {}});
  for (auto& trial : trials) {
    trial.process = static_cast<int>(place->trials.size());
    place->trials.push_back(std::move(trial));
  }
  place->summary = summarise(place->trials, {});
}

void Results::add(const RunRecord& record) {
  for (std::size_t i = 0; i < record.plan.subjects.size(); ++i) {
    std::vector<Samples> trials;
    std::copy_if(record.trials.begin(), record.trials.end(), std::back_inserter(trials),
                 [&](const Samples& trial) { return trial.subject == static_cast<int>(i); });
    add(record.plan.subjects[i].label, std::move(trials));
  }
}

const NamedResult* Results::get(std::string_view name) const {
  const auto place =
      std::find_if(results_.begin(), results_.end(), [&](const auto& result) { return result.name == name; });
  return place == results_.end() ? nullptr : &*place;
}

Result<NamedComparison> Results::compare(std::string_view baseline, std::string_view candidate) const {
  const NamedResult* first = get(baseline);
  const NamedResult* second = get(candidate);
  if (first == nullptr || second == nullptr) {
    return usage_error(fmt::format("there is no result named '{}'; Results::all() lists them",
                                   first == nullptr ? baseline : candidate));
  }
  NamedComparison comparison{.baseline = first->name,
                             .candidate = second->name,
                             .speedup = second->speedup_vs(*first),
                             .memory_change_bytes = second->memory_change_vs(*first)};
  comparison.is_improvement = comparison.speedup.interval && comparison.speedup.interval->low > 1;
  return comparison;
}

RunRecord Results::to_record() const {
  RunRecord record;
  record.environment = read_environment();
  record.created_at = wall_clock_s();
  record.id = "in-process";
  record.finished = true;
  record.plan.processes = 1;
  for (const auto& result : results_) {
    Subject subject;
    subject.label = result.name;
    subject.model = "this program";
    subject.backend = result.trials.empty() ? "" : result.trials.front().executed_value("runtime");
    if (!result.trials.empty()) subject.batch_size = result.trials.front().items_per_iteration;
    record.plan.processes = std::max(record.plan.processes, static_cast<int>(result.trials.size()));
    for (auto trial : result.trials) {
      record.plan.stopping = {
          .warmup = trial.warmups(), .iterations = static_cast<std::int64_t>(trial.iterations()), .duration_s = {}};
      trial.subject = static_cast<int>(record.plan.subjects.size());
      trial.position = static_cast<int>(record.trials.size());
      record.created_at = std::min(record.created_at, trial.started_at);
      record.plan.order.push_back({record.plan.subjects.size(), trial.process});
      record.trials.push_back(std::move(trial));
    }
    record.plan.subjects.push_back(std::move(subject));
    record.models.emplace_back().name = result.name;
  }
  return record;
}

}  // namespace infermeter
