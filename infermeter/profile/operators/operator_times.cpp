#include "infermeter/profile/operators/operator_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "infermeter/profile/explain/process_p50.hpp"
#include "infermeter/stats/comparison/signed_rank.hpp"
#include "infermeter/stats/summary/moments.hpp"

namespace infermeter {
namespace {

// No time of an iteration is longer; what is makes sums overflow.
constexpr double kLongest = 1e9;

bool is_operator_time(double value) { return std::isfinite(value) && std::abs(value) <= kLongest; }

double wall_of(const Samples& samples, std::size_t iteration) {
  return samples.end_s[iteration] - samples.begin_s[iteration];
}

// Indices of events by the iteration that they belong to; those that cannot be are left out.
std::vector<std::vector<std::size_t>> events_by_iteration(const OperatorProfile& profile, std::size_t iterations) {
  std::vector<std::vector<std::size_t>> events(iterations);
  const std::size_t count = std::min({profile.iteration.size(), profile.op.size(), profile.thread.size(),
                                      profile.begin_s.size(), profile.duration_s.size()});
  for (std::size_t i = 0; i < count; ++i) {
    if (profile.iteration[i] >= iterations || profile.op[i] >= profile.operators.size()) continue;
    if (!is_operator_time(profile.begin_s[i]) || !is_operator_time(profile.duration_s[i]) || profile.duration_s[i] < 0)
      continue;
    events[profile.iteration[i]].push_back(i);
  }
  return events;
}

// The half of them with the smallest wall time; of an odd number the larger half.
std::vector<std::size_t> fast_half(std::vector<std::size_t> iterations, const Samples& samples) {
  std::ranges::stable_sort(iterations, {}, [&](std::size_t i) { return wall_of(samples, i); });
  iterations.resize((iterations.size() + 1) / 2);
  return iterations;
}

// Credits every instant of the main thread's union of intervals to one operator: of those that run, the one that began
// last.
class Sweep {
 public:
  Sweep(const OperatorProfile& profile, std::vector<double>& seconds) : profile_(profile), seconds_(seconds) {}

  void run(std::vector<std::size_t> events) {
    // Of two that begin together the longer one is around the other.
    std::ranges::stable_sort(events, {},
                             [&](std::size_t i) { return std::tuple(profile_.begin_s[i], -profile_.duration_s[i]); });
    for (const std::size_t event : events) {
      until(profile_.begin_s[event]);
      running_.push_back(event);
    }
    until(2 * kLongest + 1);
  }

 private:
  void until(double time) {
    while (!running_.empty()) {
      const std::size_t event = running_.back();
      const double end = profile_.begin_s[event] + profile_.duration_s[event];
      const double to = std::min(end, time);
      if (to > now_) seconds_[profile_.op[event]] += to - std::exchange(now_, to);
      if (end > time) break;
      running_.pop_back();
    }
    now_ = std::max(now_, time);
  }

  const OperatorProfile& profile_;
  std::vector<double>& seconds_;
  std::vector<std::size_t> running_;
  double now_ = -kLongest;
};

void add_events(const OperatorProfile& profile, const std::vector<std::size_t>& events, ProcessOperatorTimes& sums) {
  std::vector<std::size_t> main;
  for (const std::size_t event : events) {
    if (profile.thread[event] != 0) {
      sums.helper_s[profile.op[event]] += profile.duration_s[event];
      continue;
    }
    sums.operator_calls[profile.op[event]] += 1;
    main.push_back(event);
  }
  Sweep(profile, sums.operator_s).run(std::move(main));
}

void finish(ProcessOperatorTimes& times) {
  times.rest_s = times.wall_s - std::accumulate(times.operator_s.begin(), times.operator_s.end(), 0.0);
}

void divide(std::vector<double>& sums, double count) {
  for (double& sum : sums) sum /= count;
}

void set_from_events(const ProfileTrial& trial, ProcessOperatorTimes& times) {
  const auto events = events_by_iteration(*trial.profile, trial.samples->iterations());
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const double wall = wall_of(*trial.samples, i);
    if (!events[i].empty() && is_operator_time(wall) && wall >= 0) usable.push_back(i);
  }
  if (usable.empty()) return;
  const std::vector<std::size_t> kept = fast_half(std::move(usable), *trial.samples);
  for (const std::size_t i : kept) {
    add_events(*trial.profile, events[i], times);
    times.wall_s += wall_of(*trial.samples, i);
  }
  const auto count = static_cast<double>(kept.size());
  times.wall_s /= count;
  divide(times.operator_s, count);
  divide(times.operator_calls, count);
  divide(times.helper_s, count);
  times.iterations = kept.size();
  finish(times);
}

// The source's means are of all iterations, so that only the mean of all walls goes with them.
void set_from_means(const ProfileTrial& trial, ProcessOperatorTimes& times) {
  const OperatorProfile& profile = *trial.profile;
  std::vector<double> walls = latencies_s(*trial.samples);
  std::erase_if(walls, [](double wall) { return !is_operator_time(wall) || wall < 0; });
  if (walls.empty()) return;
  times.wall_s = moments_of(walls).mean;
  const auto usable = [](double value) { return is_operator_time(value) && value >= 0 ? value : 0; };
  const std::size_t count = std::min(profile.mean_s.size(), profile.operators.size());
  for (std::size_t op = 0; op < count; ++op) times.operator_s[op] = usable(profile.mean_s[op]);
  const std::size_t called = std::min(profile.mean_calls.size(), profile.operators.size());
  for (std::size_t op = 0; op < called; ++op) times.operator_calls[op] = usable(profile.mean_calls[op]);
  times.iterations = walls.size();
  finish(times);
}

// What an operator is, in whichever process: runtimes number what they make up, and order independent operators as
// their hash tables have it. The nodes of the model, where it has any.
std::string identity_of(const ProfiledOperator& op) {
  if (op.nodes.empty()) return op.kind.empty() ? op.name : op.kind + '\n' + op.shapes;
  std::string identity = op.kind;
  for (const std::string& node : op.nodes) identity += '\n' + node;
  return identity;
}

std::vector<std::size_t> by_identity(const std::vector<ProfiledOperator>& operators) {
  std::vector<std::size_t> order(operators.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t op) { return identity_of(operators[op]); });
  return order;
}

std::vector<double> reordered(const std::vector<double>& values, const std::vector<std::size_t>& order) {
  std::vector<double> ordered;
  for (const std::size_t op : order) ordered.push_back(values[op]);
  return ordered;
}

// Of one value per process.
template <class Value>
OperatorTime time_over(const SubjectOperatorTimes& subject, double wall_s, Value&& value) {
  std::vector<double> values;
  for (const ProcessOperatorTimes& process : subject.processes) values.push_back(value(process));
  OperatorTime time;
  time.mean_s = moments_of(values).mean;
  if (const auto interval = t_interval(values, 0.95)) {
    time.low_s = time.mean_s < 0 ? interval->low : std::max(0.0, interval->low);  // the rest may be below 0
    time.high_s = interval->high;
  }
  time.share = wall_s > 0 ? time.mean_s / wall_s : 0;
  return time;
}

template <class Value>
double mean_over(const SubjectOperatorTimes& subject, Value&& value) {
  std::vector<double> values;
  for (const ProcessOperatorTimes& process : subject.processes) values.push_back(value(process));
  return moments_of(values).mean;
}

OperatorTime operator_time(const SubjectOperatorTimes& subject, std::size_t op, double wall_s) {
  OperatorTime time = time_over(subject, wall_s, [&](const ProcessOperatorTimes& p) { return p.operator_s[op]; });
  time.op = op;
  time.calls = mean_over(subject, [&](const ProcessOperatorTimes& p) { return p.operator_calls[op]; });
  time.helper_s = mean_over(subject, [&](const ProcessOperatorTimes& p) { return p.helper_s[op]; });
  return time;
}

}  // namespace

std::optional<std::vector<std::size_t>> same_operators(const OperatorProfile& a, const OperatorProfile& b) {
  std::vector<std::size_t> same(a.operators.size());
  if (std::ranges::equal(a.operators, b.operators, {}, &ProfiledOperator::name, &ProfiledOperator::name)) {
    std::iota(same.begin(), same.end(), std::size_t{0});
    return same;
  }
  if (a.operators.size() != b.operators.size()) return std::nullopt;
  const auto in_a = by_identity(a.operators), in_b = by_identity(b.operators);
  for (std::size_t i = 0; i < in_a.size(); ++i) {
    if (identity_of(a.operators[in_a[i]]) != identity_of(b.operators[in_b[i]])) return std::nullopt;
    same[in_a[i]] = in_b[i];
  }
  return same;
}

ProcessOperatorTimes process_operator_times(const ProfileTrial& trial) {
  ProcessOperatorTimes times;
  if (trial.samples == nullptr || trial.profile == nullptr) return times;
  const std::size_t operators = trial.profile->operators.size();
  times.process = trial.samples->process;
  times.operator_s.assign(operators, 0.0);
  times.operator_calls.assign(operators, 0.0);
  times.helper_s.assign(operators, 0.0);
  if (trial.profile->has_events())
    set_from_events(trial, times);
  else if (!trial.profile->mean_s.empty())
    set_from_means(trial, times);
  return times;
}

SubjectOperatorTimes subject_operator_times(std::span<const ProfileTrial> trials) {
  SubjectOperatorTimes subject;
  for (const ProfileTrial& trial : trials) {
    ProcessOperatorTimes times = process_operator_times(trial);
    const auto same =
        times.iterations == 0
            ? std::nullopt
            : same_operators(subject.profile == nullptr ? *trial.profile : *subject.profile, *trial.profile);
    if (!same) {
      ++subject.left_out;
      continue;
    }
    for (auto* values : {&times.operator_s, &times.operator_calls, &times.helper_s})
      *values = reordered(*values, *same);
    if (subject.profile == nullptr) subject.profile = trial.profile;
    subject.processes.push_back(std::move(times));
    subject.trials.push_back(trial.samples);
  }
  return subject;
}

OperatorTable operator_table(std::span<const ProfileTrial> trials, std::span<const Samples* const> timed) {
  const SubjectOperatorTimes subject = subject_operator_times(trials);
  OperatorTable table;
  table.left_out = subject.left_out;
  table.clean_p50_s = p50_of(timed);
  if (subject.profile == nullptr) return table;
  table.profile = subject.profile;
  table.processes = subject.processes.size();
  table.wall_s = mean_over(subject, [](const ProcessOperatorTimes& p) { return p.wall_s; });
  const std::size_t operators = subject.profile->operators.size();
  for (std::size_t op = 0; op < operators; ++op) {
    table.operators.push_back(operator_time(subject, op, table.wall_s));
  }
  std::ranges::stable_sort(table.operators, std::ranges::greater{}, &OperatorTime::mean_s);
  table.rest = time_over(subject, table.wall_s, [](const ProcessOperatorTimes& p) { return p.rest_s; });
  table.rest.op = operators;
  table.profiled_p50_s = p50_of(subject.trials);
  table.distorted =
      table.clean_p50_s && table.profiled_p50_s && *table.profiled_p50_s > kDistortion * *table.clean_p50_s;
  return table;
}

}  // namespace infermeter
