#include "infermeter/stats/summary/process_times.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "infermeter/stats/summary/outliers.hpp"

namespace infermeter {
namespace {

struct Durations {
  std::vector<double> usable;
  std::int64_t not_finite = 0;
};

Durations durations_of(const Samples& trial) {
  Durations durations{latencies_s(trial), 0};
  const auto unusable = [](double value) { return !std::isfinite(value) || value < 0; };
  durations.not_finite = static_cast<std::int64_t>(std::erase_if(durations.usable, unusable));
  return durations;
}

// What is left of one process; counts what was marked and removed.
std::vector<double> kept_sorted(std::vector<double> usable, const SummaryOptions& options, SubjectTimes& times) {
  const std::size_t before = usable.size();
  Kept kept = remove_outliers(usable, options.outlier_rule, options.outlier_factor);
  std::ranges::sort(usable);
  const Marked marked = mark_outliers(usable);
  times.outliers.mild += marked.mild;
  times.outliers.severe += marked.severe;
  times.outliers.total += static_cast<std::int64_t>(before);
  times.outliers.removed += static_cast<std::int64_t>(before - kept.values.size());
  times.rule_ignored += kept.ignored ? 1 : 0;
  if (kept.values.size() == before) return usable;
  std::ranges::sort(kept.values);
  return std::move(kept.values);
}

std::vector<const Samples*> in_order(std::span<const Samples> trials) {
  std::vector<const Samples*> ordered;
  ordered.reserve(trials.size());
  for (const Samples& trial : trials) ordered.push_back(&trial);
  std::ranges::stable_sort(
      ordered, {}, [](const Samples* trial) { return std::tuple(trial->process, trial->position, trial->started_at); });
  return ordered;
}

void number_replications(SubjectTimes& times) {
  std::vector<std::string_view> hosts;
  for (ProcessTimes& process : times.processes) {
    const std::string_view host = process.trial->host_process;
    auto place = host.empty() ? hosts.end() : std::ranges::find(hosts, host);
    if (place == hosts.end()) place = hosts.insert(hosts.end(), host);
    process.replication = static_cast<std::size_t>(place - hosts.begin());
  }
  times.replications = hosts.size();
}

}  // namespace

std::int64_t SubjectTimes::iterations() const {
  std::int64_t count = 0;
  for (const ProcessTimes& process : processes) count += static_cast<std::int64_t>(process.sorted.size());
  return count;
}

std::vector<double> SubjectTimes::pooled() const {
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(iterations()));
  for (const ProcessTimes& process : processes) {
    const auto middle = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), process.sorted.begin(), process.sorted.end());
    std::inplace_merge(all.begin(), all.begin() + middle, all.end());
  }
  return all;
}

void ProcessValues::add(const Samples& trial, double value) {
  const std::string_view host = trial.host_process;
  auto place = host.empty() ? sums_.end() : std::ranges::find(sums_, host, &Sum::host);
  if (place == sums_.end()) place = sums_.insert(sums_.end(), {.host = host, .block = trial.process});
  place->sum += value;
  ++place->count;
}

std::vector<double> ProcessValues::values() const {
  std::vector<double> values;
  for (const Sum& sum : sums_) values.push_back(sum.sum / sum.count);
  return values;
}

std::vector<int> ProcessValues::blocks() const {
  std::vector<int> blocks;
  for (const Sum& sum : sums_) {
    if (!sum.host.empty()) return {};
    blocks.push_back(sum.block);
  }
  return blocks;
}

SubjectTimes subject_times(std::span<const Samples> trials, const SummaryOptions& options, Wanted wanted) {
  SubjectTimes times;
  times.trials = in_order(trials);
  std::vector<std::pair<const Samples*, std::vector<double>>> whole;
  std::vector<std::pair<const Samples*, std::vector<double>>> partial;
  for (const Samples* trial : times.trials) {
    Durations durations = durations_of(*trial);
    times.not_finite += durations.not_finite;
    if (durations.usable.empty()) {
      ++times.failed;
    } else if (trial->end == TrialEnd::ok) {
      whole.emplace_back(trial, std::move(durations.usable));
    } else {
      partial.emplace_back(trial, std::move(durations.usable));
    }
  }
  times.ok = static_cast<int>(whole.size());
  times.partial = static_cast<int>(partial.size());
  for (auto& [trial, usable] : whole.empty() ? partial : whole) {
    // Response times under load have long tails, which are what they are about: none is marked, and none removed.
    if (trial->load && wanted == Wanted::sorted) std::ranges::sort(usable);
    const bool as_it_is = trial->load || (wanted == Wanted::any_order && options.outlier_rule == "none");
    times.processes.push_back(
        {trial, 0, as_it_is ? std::move(usable) : kept_sorted(std::move(usable), options, times)});
  }
  number_replications(times);
  return times;
}

}  // namespace infermeter
