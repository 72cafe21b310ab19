#include "infermeter/profile/read/profile_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace infermeter {
namespace {

constexpr std::int64_t farthest_ns = std::int64_t{1} << 61U;
// Two months: a double of seconds tells nanoseconds apart up to there.
constexpr std::int64_t most_apart_ns = 5'000'000'000'000'000;
constexpr std::uint32_t no_operator = UINT32_MAX;

std::int64_t to_ns(double seconds) { return std::abs(seconds) < 1e9 ? std::llround(seconds * 1e9) : 0; }

}  // namespace

bool is_near(std::int64_t ns) { return ns > -farthest_ns && ns < farthest_ns; }

std::optional<std::int64_t> steady_realtime_ahead_ns(const Samples& trial) {
  const ClockRecord& clock = trial.clock;
  if (!clock.realtime_ahead_ns || !clock.realtime_slip_ns || !is_near(*clock.realtime_ahead_ns)) return std::nullopt;
  const std::int64_t slip = *clock.realtime_slip_ns;
  if (slip < -kMostSlip_ns || slip > kMostSlip_ns) return std::nullopt;
  return clock.realtime_ahead_ns;
}

ClockedIterations::ClockedIterations(const Samples& trial, std::optional<std::int64_t> ahead_ns) {
  const std::size_t count = std::min(trial.begin_s.size(), trial.end_s.size());
  for (std::size_t i = 0; i < count; ++i) wall_ns_.push_back(to_ns(trial.end_s[i] - trial.begin_s[i]));
  const auto origin = trial.clock.origin_monotonic_ns;
  if (!origin || !ahead_ns || !is_near(*origin) || !is_near(*ahead_ns)) return;
  for (std::size_t i = 0; i < count; ++i) begin_ns_.push_back(*origin + *ahead_ns + to_ns(trial.begin_s[i]));
}

bool ClockedIterations::contains(std::size_t iteration, const TimeSpan& run) const {
  const TimeSpan wall = at(iteration);
  return run.begin_ns >= wall.begin_ns - kMostSlip_ns && run.end_ns() <= wall.end_ns() + kMostSlip_ns;
}

std::int64_t ClockedIterations::begin_of(std::size_t iteration, const TimeSpan& run) const {
  if (joined() && contains(iteration, run)) return begin_ns_[iteration];
  return run.begin_ns - (wall_ns_[iteration] - run.duration_ns) / 2;
}

Result<Samples> samples_of_runs(std::span<const TimeSpan> runs) {
  if (runs.size() > kMostImportedIterations)
    return io_error(fmt::format("it has more than {} inferences", kMostImportedIterations));
  Samples samples;
  if (runs.empty()) return samples;
  const std::int64_t origin_ns = runs.front().begin_ns;
  for (const TimeSpan& run : runs) {
    if (!is_near(run.begin_ns) || !is_near(run.duration_ns) || !is_near(run.end_ns() - origin_ns) ||
        run.end_ns() - origin_ns > most_apart_ns)
      return io_error("its inferences lie months apart");
    samples.begin_s.push_back(static_cast<double>(run.begin_ns - origin_ns) * 1e-9);
    samples.end_s.push_back(static_cast<double>(run.end_ns() - origin_ns) * 1e-9);
  }
  samples.clock.origin_monotonic_ns = origin_ns;
  samples.clock.realtime_ahead_ns = samples.clock.realtime_slip_ns = 0;
  return samples;
}

SelfTimedProfile self_timed(const Samples& iterations, OperatorProfile profile) {
  return {.begin_s = iterations.begin_s, .end_s = iterations.end_s, .operators = std::move(profile)};
}

SelfTimedProfile from_means(OperatorProfile profile) {
  const double sum_s = std::accumulate(profile.mean_s.begin(), profile.mean_s.end(), 0.0);
  return {.begin_s = {0}, .end_s = {sum_s}, .operators = std::move(profile)};
}

Result<Done> put_events(std::vector<PlacedEvent> events, OperatorProfile& profile) {
  std::ranges::stable_sort(events, {}, [](const PlacedEvent& event) {
    return std::tuple(event.iteration, event.begin_ns, -event.duration_ns);
  });
  std::size_t kept = std::min(events.size(), kMostProfileEvents);
  if (kept < events.size()) {
    const std::uint32_t first_out = events[kept].iteration;
    while (kept > 0 && events[kept - 1].iteration == first_out) --kept;
    if (kept == 0)
      return io_error(fmt::format("one inference alone has more than {} events in its profile", kMostProfileEvents));
    profile.cut = true;
  }
  events.resize(kept);
  for (const PlacedEvent& event : events) {
    profile.iteration.push_back(event.iteration);
    profile.op.push_back(event.op);
    profile.thread.push_back(event.thread);
    profile.begin_s.push_back(static_cast<double>(event.begin_ns) * 1e-9);
    profile.duration_s.push_back(static_cast<double>(event.duration_ns) * 1e-9);
  }
  return Done{};
}

void order_by_first_event(OperatorProfile& profile) {
  std::vector<std::uint32_t> place(profile.operators.size(), no_operator);
  std::vector<ProfiledOperator> ordered;
  for (std::uint32_t& op : profile.op) {
    if (place[op] == no_operator) {
      place[op] = static_cast<std::uint32_t>(ordered.size());
      ordered.push_back(std::move(profile.operators[op]));
    }
    op = place[op];
  }
  profile.operators = std::move(ordered);
}

}  // namespace infermeter
