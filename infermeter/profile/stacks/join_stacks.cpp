#include "infermeter/profile/stacks/join_stacks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <utility>
#include <vector>

namespace infermeter {
namespace {

// A stretch of an iteration in which one operator is the innermost.
struct Stretch {
  double begin_s = 0, end_s = 0;  // since the iteration's begin
  std::uint32_t op = 0;
};

bool is_usable_event(const OperatorProfile& profile, std::size_t event) {
  return profile.thread[event] == 0 && profile.op[event] < profile.operators.size() &&
         std::isfinite(profile.begin_s[event]) && std::isfinite(profile.duration_s[event]) &&
         profile.duration_s[event] >= 0;
}

// Events of one iteration -> stretches in order, none over another.
class Innermost {
 public:
  explicit Innermost(const OperatorProfile& profile) : profile_(profile) {}

  std::vector<Stretch> of(std::vector<std::size_t> events) && {
    // Of two that begin together the longer one is around the other.
    std::ranges::stable_sort(events, {},
                             [&](std::size_t i) { return std::tuple(profile_.begin_s[i], -profile_.duration_s[i]); });
    for (const std::size_t event : events) {
      until(profile_.begin_s[event]);
      now_ = profile_.begin_s[event];
      running_.push_back(event);
    }
    until(HUGE_VAL);
    return std::move(stretches_);
  }

 private:
  void until(double time_s) {
    while (!running_.empty()) {
      const std::size_t event = running_.back();
      const double end_s = profile_.begin_s[event] + profile_.duration_s[event];
      const double to_s = std::min(end_s, time_s);
      if (to_s > now_)
        stretches_.push_back({.begin_s = std::exchange(now_, to_s), .end_s = to_s, .op = profile_.op[event]});
      if (end_s > time_s) return;
      running_.pop_back();
    }
  }

  const OperatorProfile& profile_;
  std::vector<std::size_t> running_;
  std::vector<Stretch> stretches_;
  double now_ = 0;
};

std::vector<std::vector<Stretch>> stretches_by_iteration(const OperatorProfile& profile, std::size_t iterations) {
  std::vector<std::vector<std::size_t>> events(iterations);
  const std::size_t count = std::min({profile.iteration.size(), profile.op.size(), profile.thread.size(),
                                      profile.begin_s.size(), profile.duration_s.size()});
  for (std::size_t i = 0; i < count; ++i)
    if (profile.iteration[i] < iterations && is_usable_event(profile, i)) events[profile.iteration[i]].push_back(i);
  std::vector<std::vector<Stretch>> stretches;
  stretches.reserve(iterations);
  for (auto& of_one : events) stretches.push_back(Innermost(profile).of(std::move(of_one)));
  return stretches;
}

std::optional<std::uint32_t> iteration_at(const Samples& trial, double t_s) {
  const auto after = std::ranges::upper_bound(trial.begin_s, t_s);
  if (after == trial.begin_s.begin()) return std::nullopt;
  const auto iteration = static_cast<std::size_t>(after - trial.begin_s.begin()) - 1;
  if (iteration >= trial.end_s.size() || !(t_s < trial.end_s[iteration])) return std::nullopt;
  return static_cast<std::uint32_t>(iteration);
}

std::optional<std::uint32_t> operator_at(const std::vector<Stretch>& stretches, double t_s) {
  const auto after = std::ranges::upper_bound(stretches, t_s, {}, &Stretch::begin_s);
  if (after == stretches.begin() || t_s >= std::prev(after)->end_s) return std::nullopt;
  return std::prev(after)->op;
}

std::string why_refused(const Samples& trial) {
  const std::int64_t slip_ns = trial.clock.realtime_slip_ns.value_or(0);
  if (slip_ns <= kMostClockSlipNs && slip_ns >= -kMostClockSlipNs) return {};
  return fmt::format(
      "the clock that runtimes stamp their operators by moved by {:.0f} us against that of the stacks while they were "
      "sampled; {} us are the most",
      static_cast<double>(slip_ns) * 1e-3, kMostClockSlipNs / 1000);
}

}  // namespace

JoinedStacks join_stacks(StackProfile& stacks, const Samples& trial, const OperatorProfile* profile) {
  JoinedStacks joined;
  for (StackSample& sample : stacks.samples) sample.iteration = iteration_at(trial, sample.t_s);
  std::erase_if(stacks.samples, [](const StackSample& sample) { return !sample.iteration; });
  joined.samples = stacks.samples.size();
  if (profile == nullptr || !profile->has_events()) return joined;
  joined.refused = why_refused(trial);
  if (!joined.refused.empty()) return joined;
  const auto stretches = stretches_by_iteration(*profile, trial.begin_s.size());
  for (StackSample& sample : stacks.samples) {
    sample.op = operator_at(stretches[*sample.iteration], sample.t_s - trial.begin_s[*sample.iteration]);
    joined.with_operator += sample.op ? 1 : 0;
  }
  return joined;
}

}  // namespace infermeter
